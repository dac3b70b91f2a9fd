/**
 * Making room: who may be made to give way to whom, in which order, and whether it is worth it.
 *
 * <p>Owns: the rights to reclaim and to preempt, the choice and the minimisation of victims, moving work to close gaps.
 *
 * <p>Does not own: the order of claimants, admission without victims, how a victim is stopped.
 *
 * <p>Invariants: nothing is stopped unless the claimant then fits; the measure that grants a right is the one that
 * chooses the victim; non-preemptible work is never touched; a search that fails leaves no trace.
 */
@NullMarked
package io.quartermaster.engine.preemption;

import org.jspecify.annotations.NullMarked;
