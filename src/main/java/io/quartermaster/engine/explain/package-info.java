/**
 * Reasons of waiting work, outlooks, and receipts of decisions.
 *
 * <p>Owns: the reason per workload and pool, its text and its numbers; the receipt of each decision.
 *
 * <p>Does not own: decisions.
 *
 * <p>Invariants: an explanation leaves the scheduling state as it was.
 */
@NullMarked
package io.quartermaster.engine.explain;

import org.jspecify.annotations.NullMarked;
