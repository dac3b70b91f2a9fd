/**
 * The records that a node's agent and the service exchange, as JSON, in one level-triggered call.
 *
 * <p><b>Owns</b> the shape of {@code POST /v1/nodes/{node}/sync}: what the agent says ({@link
 * io.quartermaster.agent.protocol.SyncRequest}), what it is answered ({@link
 * io.quartermaster.agent.protocol.SyncReply}), the session that it shows ({@link
 * io.quartermaster.agent.protocol.SessionReply}), and the bounds of both ({@link
 * io.quartermaster.agent.protocol.Protocol}).
 *
 * <p><b>Does not own</b> what either side does with it: the agent's decisions are in {@link
 * io.quartermaster.agent}, the service's in {@code execution.agents}. Nothing here has behaviour beyond checks.
 *
 * <p><b>Invariants.</b> Every message says the whole state, never a change, so a lost or repeated one costs time
 * and never truth. Readers ignore fields that they do not know; a change that cannot be ignored raises {@link
 * io.quartermaster.agent.protocol.Protocol#FORMAT_VERSION}. Times of the world are milliseconds since 1970 and
 * only for people; leases are lengths and are counted on each side's own monotonic clock.
 */
@NullMarked
package io.quartermaster.agent.protocol;

import org.jspecify.annotations.NullMarked;
