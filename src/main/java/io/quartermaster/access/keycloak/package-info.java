/**
 * Keycloak's administration, as the service uses it.
 *
 * <p>Owns: the HTTP engine, the administrator's token and the time limits of calls to Keycloak's administration; the
 * credentials of nodes.
 *
 * <p>Does not own: the check of tokens ({@code access}); the content of a tenant's realm ({@code tenancy}).
 *
 * <p>Invariants: no call runs on an event loop of the service or blocks one; a call that exceeds its time limit ends
 * immediately and releases its permit; no call is made inside a database transaction.
 */
@NullMarked
package io.quartermaster.access.keycloak;

import org.jspecify.annotations.NullMarked;
