/**
 * Scenario files and traces, read and written.
 *
 * <p>Owns: the form of scenario files, errors with their line, the JSON and the chart of results.
 *
 * <p>Does not own: what a scenario means (package {@code engine.simulation}).
 *
 * <p>Invariants: unknown keys are refused; the same result prints the same bytes.
 */
@NullMarked
package io.quartermaster.cli.scenario;

import org.jspecify.annotations.NullMarked;
