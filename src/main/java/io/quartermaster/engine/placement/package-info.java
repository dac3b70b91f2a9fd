/**
 * The places where work is and could be: pools, nodes, devices, the allocation of each workload, and the choice of the
 * best place.
 *
 * <p>Owns: the free capacity of every device, now and after all evicted work has left; the choice of nodes, devices,
 * topology domains and MIG slots.
 *
 * <p>Does not own: quota admission, the order of candidates, the choice of victims.
 *
 * <p>Invariants: removing a booking restores the state before it was added; an offered place fits as a whole; ids
 * decide between equal places.
 */
@NullMarked
package io.quartermaster.engine.placement;

import org.jspecify.annotations.NullMarked;
