/**
 * The control loop of a cell: one leader reads what changed, asks the engine, and commits the plan.
 *
 * <p>Owns: the lease, epoch and stamp of a {@code cell}; every write of workload states, attempts, allocations, nominations,
 * preemptions, the feed and usage events.
 *
 * <p>Does not own: what is decided (that is {@code engine}), what is asked for (the API writes wishes), what happens on the machines
 * (executors write reports).
 *
 * <p>Invariants: nothing is written outside a transaction that held the fence (the cell's row, by epoch), and everything in it is timed by
 * the one stamp that the fence gave; stamps never go back. After any failure, an unknown outcome of a commit included, the engine is
 * thrown away and built again from the tables, so it never knows more than they do. What an executor reported is applied whether or not a
 * plan can be made.
 */
@NullMarked
package io.quartermaster.dispatch;

import org.jspecify.annotations.NullMarked;
