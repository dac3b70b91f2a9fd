/**
 * Queues and their access rules in the API.
 *
 * <p>Owns: the resources, the request and answer types and the services of queues; the order of waiting work.
 *
 * <p>Does not own: rows and rules shared with policies (package {@code governance}).
 *
 * <p>Invariants: a retired queue accepts no work; its waiting work is moved or cancelled as the request says.
 */
@NullMarked
package io.quartermaster.governance.queues;

import org.jspecify.annotations.NullMarked;
