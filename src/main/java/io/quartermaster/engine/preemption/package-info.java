/**
 * Making room: the rights to evict, the order of victims, and the search for the least disruption.
 *
 * <p>Owns: the rights to reclaim and to preempt, the choice and the minimisation of victims, moving work to close gaps.
 *
 * <p>Does not own: the order of candidates, admission without victims, the execution of an eviction.
 *
 * <p>Invariants: nothing is evicted unless the preemptor then fits. A right compares use with the reservation or with
 * the fair share of a branch; victims come from the branch with the greatest use over fair share, as far as the right
 * permits them. Non-preemptible work is never evicted or moved. A search that fails changes nothing.
 */
@NullMarked
package io.quartermaster.engine.preemption;

import org.jspecify.annotations.NullMarked;
