/**
 * Where work is and where it could be: pools, nodes, devices, what each workload holds, and which place is best.
 *
 * <p>Owns: the free room of every device now and once everybody told to stop has left; the choice of nodes, devices,
 * topology domains and MIG slots.
 *
 * <p>Does not own: whether somebody may start, who goes first, who gives way.
 *
 * <p>Invariants: what is added can be taken away again and leaves no trace; a place that is offered fits as a whole;
 * equal places are chosen between by id.
 */
@NullMarked
package io.quartermaster.engine.placement;

import org.jspecify.annotations.NullMarked;
