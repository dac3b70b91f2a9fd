/**
 * The program on a GPU node: it asks the service what should run there, makes it so, and says what is.
 *
 * <p><b>Owns</b> the node's attempts: their records on disk, their processes and supervisors, their output and
 * checkpoint folders, the lease under which they may run, and the discovery of devices.
 *
 * <p><b>Does not own</b> any decision about who runs where or for how long; the service decides, the agent carries
 * out. It imports nothing of the service; the two share the records of {@link io.quartermaster.agent.protocol}.
 *
 * <p><b>Invariants.</b> An attempt is started at most once: its id is on disk before. Work outlives the agent, not
 * the lease: each attempt has a supervisor of its own which ends it. An attempt that was reported as ended has no
 * process left. Work never sees the agent's environment or secrets.
 */
@NullMarked
package io.quartermaster.agent;

import org.jspecify.annotations.NullMarked;
