/**
 * The scheduling core: scheduling state, quota trees, fair share, placement, evictions and explanations.
 *
 * <p>Owns: every scheduling decision. Changes go in, a plan comes out ({@link io.quartermaster.engine.Engine}); the
 * sub-packages hold the quota arithmetic, the devices, the search for victims and the simulator.
 *
 * <p>Does not own: storage, time, the execution of decisions, prices. The shell supplies the inputs and the time.
 *
 * <p>Invariants: JDK only; no clock, no randomness, no threads, no floating point; every order ends with an id, so the
 * same changes give the same plan; expected failures are values ({@link io.quartermaster.engine.model.Reason}), never
 * exceptions; amounts of GPU are integer thousandths ({@code gpuMilli}), time is integer milliseconds since the epoch.
 */
@NullMarked
package io.quartermaster.engine;

import org.jspecify.annotations.NullMarked;
