/**
 * Scenarios, the simulator and the forecaster: a cluster, work over virtual time, and the expected state.
 *
 * <p>Owns: the model of a scenario, its simulation with an engine as a shell would run it, the check of its
 * expectations, forecasts.
 *
 * <p>Does not own: the files that scenarios are written in, scheduling.
 *
 * <p>Invariants: no code sleeps or is random; two runs give the same result.
 */
@NullMarked
package io.quartermaster.engine.simulation;

import org.jspecify.annotations.NullMarked;
