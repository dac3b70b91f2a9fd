/**
 * Questions about the cell: outlooks of waiting workloads, simulations, and explanations of fair shares. Any replica
 * answers them from the stored state.
 *
 * <p>Owns: the replica's view of the present cell, which is a snapshot of the tables with an engine; the limits on time
 * and memory for questions to it.
 *
 * <p>Does not own: the translation of tables for the engine ({@code dispatch}: the leader's own code, so that answers
 * match the leader's decisions), the rules ({@code engine}), the stored state of workloads ({@code workloads}).
 *
 * <p>Invariants: nothing is written; nothing is computed on an event loop; one question is answered at a time, within
 * limits. A response to a tenant contains no name and no amount of another tenant. Other tenants' workloads show only
 * in the capacity that they leave.
 */
@NullMarked
package io.quartermaster.insight;

import org.jspecify.annotations.NullMarked;
