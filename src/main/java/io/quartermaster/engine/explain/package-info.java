/**
 * Reasons of waiting work, outlooks, and receipts of decisions.
 *
 * <p>Owns: the reason per workload and pool, its text and its numbers; the receipt of each decision.
 *
 * <p>Does not own: decisions.
 *
 * <p>Invariants: explaining changes nothing: the state after it equals the state before it.
 */
@NullMarked
package io.quartermaster.engine.explain;

import org.jspecify.annotations.NullMarked;
