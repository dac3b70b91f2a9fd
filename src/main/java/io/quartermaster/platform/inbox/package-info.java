/**
 * The inbox of the leader and the wake-ups that announce it.
 *
 * <p>Owns: the table {@code inbox}, the channels of wake-ups in Redis and PostgreSQL.
 *
 * <p>Does not own: what the leader does with an inbox row (package {@code dispatch}).
 *
 * <p>Invariants: an inbox row commits together with the change that it names; a lost wake-up causes only a delay, since
 * every reader also polls.
 */
@NullMarked
package io.quartermaster.platform.inbox;

import org.jspecify.annotations.NullMarked;
