/**
 * The program on a GPU node: it gets the node's desired state from the service, carries it out, and reports the actual
 * state.
 *
 * <p><b>Owns</b> the node's attempts: their records on disk, their processes and supervisors, their output and
 * checkpoint folders, the lease under which they may run, and the discovery of devices.
 *
 * <p><b>Does not own</b> any decision about what runs where or for how long; the service decides, the agent carries
 * out. It imports nothing of the service; the two share the records of {@link io.quartermaster.agent.protocol}.
 *
 * <p><b>Invariants.</b> An attempt is started at most once: its id is on disk before. Work outlives the agent, but not
 * the lease: each attempt has its own supervisor, which ends it. An attempt that was reported as ended has no process
 * left. Work never sees the agent's environment or secrets.
 */
@NullMarked
package io.quartermaster.agent;

import org.jspecify.annotations.NullMarked;
