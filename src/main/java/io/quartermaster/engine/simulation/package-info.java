/**
 * Scenarios and the simulator: a cluster, work over virtual time, and what must be true at which moment.
 *
 * <p>Owns: the model of a scenario, playing it against an engine as a shell would, checking its expectations.
 *
 * <p>Does not own: the files that scenarios are written in, scheduling.
 *
 * <p>Invariants: nothing sleeps, nothing is random; two runs give the same result.
 */
@NullMarked
package io.quartermaster.engine.simulation;

import org.jspecify.annotations.NullMarked;
