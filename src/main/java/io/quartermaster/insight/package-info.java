/**
 * What will become of the cell: outlooks of what waits, and simulations (what if). Answered by any replica from what is stored.
 *
 * <p>Owns: the replica's view of the cell as it is now (a snapshot of the tables with an engine built from it), and the time and memory
 * that questions to it may take.
 *
 * <p>Does not own: how the tables become the engine's facts ({@code dispatch}: the leader's own code is used, so that the answers are what the
 * leader would do), the rules ({@code engine}), what is stored of a workload ({@code workloads}).
 *
 * <p>Invariants: nothing is written; nothing is worked out on an event loop; one question is answered at a time, within bounds; an answer to a
 * tenant names nothing of another and gives no amount of another, whose work shows only in what it leaves.
 */
@NullMarked
package io.quartermaster.insight;

import org.jspecify.annotations.NullMarked;
