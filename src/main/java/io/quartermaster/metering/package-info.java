/**
 * Stored usage and its API: closes the hours of every tenant, answers queries, exports usage, and audits the ledger.
 *
 * <p>Owns: the tables {@code closed_hour}, {@code segment}, {@code usage_hour} and
 * {@code books_audit}; when an hour closes; how usage
 * events, segments and a book's state are written as rows and read back; the export and its mapping file in
 * {@code billing/}.
 *
 * <p>Does not own: how usage is counted ({@code ledger}); the writing of {@code usage_event} (the leader, in a plan's
 * commit); what usage costs (price books).
 *
 * <p>Invariants: an hour closes in one transaction, with its segments, the book's state and the link to the chain, or
 * not at all; it closes once and is never computed again for its readers. A row that cannot be read strictly is
 * refused, never skipped. A tenant's usage is read by the request role; only closing, operators' reports and the audit
 * use the system role.
 */
@NullMarked
package io.quartermaster.metering;

import org.jspecify.annotations.NullMarked;
