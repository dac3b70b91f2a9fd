/**
 * Records that enter and leave the engine: workloads, nodes, quotas, changes, decisions, reasons, settings.
 *
 * <p>Owns: the values, their checks, and the text form of amounts and times.
 *
 * <p>Does not own: any decision.
 *
 * <p>Invariants: values are immutable and use the JDK only; amounts are thousandths of a GPU ({@code gpuMilli}),
 * times are milliseconds since the epoch.
 */
@NullMarked
package io.quartermaster.engine.model;

import org.jspecify.annotations.NullMarked;
