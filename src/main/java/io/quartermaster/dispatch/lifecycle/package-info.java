/**
 * The lifecycle of a workload: stored state, wishes and reports give the next step.
 *
 * <p>Owns: the rules of the lifecycle, the back-off after lost attempts, the reasons of stops.
 *
 * <p>Does not own: reading and writing of rows.
 *
 * <p>Invariants: pure functions: the same record gives the same step; an attempt that ended never runs again.
 */
@NullMarked
package io.quartermaster.dispatch.lifecycle;

import org.jspecify.annotations.NullMarked;
