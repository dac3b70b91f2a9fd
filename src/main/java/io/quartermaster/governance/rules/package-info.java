/**
 * The rules of a tenant as values, and the checks over them.
 *
 * <p>Owns: policies, profiles, queues and quotas as values; the quota tree of a tenant; the fit of reservations
 * over time.
 *
 * <p>Does not own: rows, transactions and the API.
 *
 * <p>Invariants: values only: nothing here reads or writes a table; a check names every conflict that it finds.
 */
@NullMarked
package io.quartermaster.governance.rules;

import org.jspecify.annotations.NullMarked;
