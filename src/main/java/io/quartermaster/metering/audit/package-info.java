/**
 * The audit of stored usage.
 *
 * <p>Owns: the operation that audits a tenant, its resource and its findings.
 *
 * <p>Does not own: the equations themselves (package {@code ledger.audit}).
 *
 * <p>Invariants: an audit reads hour by hour, so its memory does not grow with the history.
 */
@NullMarked
package io.quartermaster.metering.audit;

import org.jspecify.annotations.NullMarked;
