/**
 * Decisions and lifecycle steps as rows of one plan.
 *
 * <p>Owns: the translation of decisions to rows, counters, reserved levels, pending reasons.
 *
 * <p>Does not own: the decisions ({@code engine}) and the fence (package {@code dispatch.transaction}).
 *
 * <p>Invariants: rows are written in an order that satisfies every key and index at any time.
 */
@NullMarked
package io.quartermaster.dispatch.commit;

import org.jspecify.annotations.NullMarked;
