/**
 * Benchmarks of the engine on cells that resemble real ones.
 *
 * <p>Owns: the cells, the measurement of fills and events, the checker that replays every plan, and the goals.
 *
 * <p>Does not own: the engine's tests, and the benchmark of the even cell ({@code EngineBenchmark}).
 *
 * <p>Invariants: the checker uses no class of the engine outside of {@code engine.model}, and never runs inside a
 * measured part. All randomness has a fixed seed.
 */
@NullMarked
package io.quartermaster.engine.benchmark;

import org.jspecify.annotations.NullMarked;
