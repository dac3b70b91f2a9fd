/**
 * Readers of scenario files and traces, and writers of simulation results.
 *
 * <p>Owns: the form of scenario files, errors with their line, the JSON and the chart of results.
 *
 * <p>Does not own: the meaning of a scenario (package {@code engine.simulation}).
 *
 * <p>Invariants: readers refuse unknown keys; equal results print equal bytes.
 */
@NullMarked
package io.quartermaster.cli.scenario;

import org.jspecify.annotations.NullMarked;
