/**
 * One plan: the order of attempts, starts, nominations, backfill reservations, evictions without a preemptor.
 *
 * <p>Owns: the sequence in which a plan tries things, and the list of its decisions.
 *
 * <p>Does not own: which candidate is next (package {@code engine.order}), which victims an eviction takes
 * (package {@code engine.preemption}).
 *
 * <p>Invariants: a decision is applied to the scheduling state at once, so the next one sees it; a plan is a
 * function of the state and the time.
 */
@NullMarked
package io.quartermaster.engine.plan;

import org.jspecify.annotations.NullMarked;
