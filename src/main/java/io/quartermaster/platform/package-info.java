/**
 * The common base of all capabilities: problems, ids, quantities, pages, transactions, idempotent writes, long-running
 * work, the inbox and wake-ups.
 *
 * <p>Owns: the two ways to access PostgreSQL ({@link io.quartermaster.platform.db.TenantTransactions} for the request
 * role, {@link io.quartermaster.platform.db.SystemDatabase} for the system role), the tables {@code inbox},
 * {@code idempotency} and {@code operation}.
 *
 * <p>Does not own: any table of a capability; the identity of callers (package {@code access}).
 *
 * <p>Invariants: a request touches tenant rows only inside {@code TenantTransactions}, which sets {@code app.tenant}
 * for exactly one transaction; an inbox row commits together with the change it names; every error leaves as an RFC
 * 9457 problem; one process at a time works on an operation, and another continues it after a crash.
 */
@NullMarked
package io.quartermaster.platform;

import org.jspecify.annotations.NullMarked;
