/**
 * The control loop of a cell: one leader reads what changed, asks the engine, and commits the plan.
 *
 * <p>Owns: the lease, epoch and stamp of a {@code cell}; every write of workload states, attempts, allocations,
 * nominations, preemptions, the feed and usage events.
 *
 * <p>Does not own: the decisions ({@code engine}), the desired states (the API writes them), the actual states on the
 * machines (executors report them).
 *
 * <p>Invariants: every write is in a transaction that holds the fence: the cell's row, by epoch. The stamp of the fence
 * dates all of them, and stamps never go back. After any failure the engine is built again from the tables, also when
 * the outcome of a commit is unknown. So the engine never knows more than the tables. Reports of executors are applied
 * whether or not a plan can be made.
 */
@NullMarked
package io.quartermaster.dispatch;

import org.jspecify.annotations.NullMarked;
