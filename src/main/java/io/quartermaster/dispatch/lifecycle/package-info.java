/**
 * The lifecycle of a workload: the stored state, the desired state and the reports determine the next step.
 *
 * <p>Owns: the rules of the lifecycle, the back-off after lost attempts, the reasons of stops.
 *
 * <p>Does not own: reading and writing of rows.
 *
 * <p>Invariants: pure functions: one record always gives the same step; an attempt that ended never runs again.
 */
@NullMarked
package io.quartermaster.dispatch.lifecycle;

import org.jspecify.annotations.NullMarked;
