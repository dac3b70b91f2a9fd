/**
 * The audit log: every change with its actor.
 *
 * <p>Owns: the table {@code audit_entry}, its hash chain, its resource.
 *
 * <p>Does not own: the writes that are audited.
 *
 * <p>Invariants: an entry commits with its change; entries are sealed into one chain per tenant afterwards.
 */
@NullMarked
package io.quartermaster.access.audit;

import org.jspecify.annotations.NullMarked;
