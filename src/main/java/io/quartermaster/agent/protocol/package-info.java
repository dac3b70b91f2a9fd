/**
 * The records that a node's agent and the service exchange, as JSON, in one level-triggered call.
 *
 * <p><b>Owns</b> the shape of {@code POST /v1/nodes/{node}/sync}: the request
 * ({@link io.quartermaster.agent.protocol.SyncRequest}), the reply ({@link io.quartermaster.agent.protocol.SyncReply}),
 * the session ({@link io.quartermaster.agent.protocol.SessionReply}), and the limits of all of them
 * ({@link io.quartermaster.agent.protocol.Protocol}).
 *
 * <p><b>Does not own</b> what either side does with a message: the agent's decisions are in
 * {@link io.quartermaster.agent}, the service's in {@code execution.agents}. The records have no behaviour beyond
 * checks.
 *
 * <p><b>Invariants.</b> Every message states the whole state, never a change, so a lost or repeated one costs time and
 * never correctness. Readers ignore fields that they do not know; a change that cannot be ignored raises
 * {@link io.quartermaster.agent.protocol.Protocol#FORMAT_VERSION}. Times of day are milliseconds since 1970 and only
 * for people; leases are durations that each side measures on its own monotonic clock.
 */
@NullMarked
package io.quartermaster.agent.protocol;

import org.jspecify.annotations.NullMarked;
