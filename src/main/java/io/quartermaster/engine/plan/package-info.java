/**
 * One plan: the order of attempts, starts, nominations, backfill reservations, evictions without a preemptor.
 *
 * <p>Owns: the sequence of attempts in a plan, and the list of its decisions.
 *
 * <p>Does not own: the choice of the next candidate (package {@code engine.order}) and of the victims (package
 * {@code engine.preemption}).
 *
 * <p>Invariants: a decision is applied to the scheduling state immediately, so the next decision sees it; a plan is a
 * function of the state and the time.
 */
@NullMarked
package io.quartermaster.engine.plan;

import org.jspecify.annotations.NullMarked;
