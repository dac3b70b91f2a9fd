/**
 * Clusters of kind {@code agent}: the service's side of the level-triggered protocol.
 *
 * <p>Owns: the tables {@code gpu}, {@code node_contact} and {@code report}; the node's lease as the service counts it.
 *
 * <p>Does not own: what should run (the leader binds; this package tells), what becomes of a report (the leader reads it).
 *
 * <p>Invariants: a node is told only of attempts bound to it; a report counts only for attempts bound to the node that reports; an old
 * request of an agent changes nothing; the lease the service counts ends after the one the agent counts.
 */
@NullMarked
package io.quartermaster.execution.agents;

import org.jspecify.annotations.NullMarked;
