/**
 * Clusters of kind {@code agent}: the service's side of the level-triggered protocol.
 *
 * <p>Owns: the tables {@code gpu}, {@code node_contact} and {@code report}; the node's lease as the service measures
 * it.
 *
 * <p>Does not own: the choice of what runs (the leader binds attempts, this package delivers them), the effects of a
 * report (the leader reads it).
 *
 * <p>Invariants: a node receives only attempts bound to it; a report affects only attempts bound to the reporting node;
 * an outdated request of an agent changes nothing; the lease ends for the service later than for the agent; an answer
 * comes after the commit of its contact; the stored digest of an inventory commits together with that inventory.
 */
@NullMarked
package io.quartermaster.execution.agents;

import org.jspecify.annotations.NullMarked;
