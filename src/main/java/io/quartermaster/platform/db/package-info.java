/**
 * Connections and transactions to PostgreSQL, by role.
 *
 * <p>Owns: the pools of the request role, the system role, the leader and the executors; time limits of
 * transactions; deletion of expired rows.
 *
 * <p>Does not own: any table of a capability.
 *
 * <p>Invariants: a request touches tenant rows only in a transaction that sets {@code app.tenant}; no transaction
 * is open while another system is called.
 */
@NullMarked
package io.quartermaster.platform.db;

import org.jspecify.annotations.NullMarked;
