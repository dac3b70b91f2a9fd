/**
 * Policies in the API, their capacity reservations, and the initial rules of a tenant.
 *
 * <p>Owns: resources, request and answer types, readers and services of policies; the provisioning steps for allotments
 * and rules; the drift check of groups.
 *
 * <p>Does not own: rows and rules shared with queues and profiles (package {@code governance}).
 *
 * <p>Invariants: a policy changes together with its queues, under the lock of the tenant's quotas.
 */
@NullMarked
package io.quartermaster.governance.policies;

import org.jspecify.annotations.NullMarked;
