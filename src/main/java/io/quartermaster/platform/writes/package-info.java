/**
 * Idempotent writes of the API.
 *
 * <p>Owns: the table {@code idempotency}, the parameters and the reply that every write has. The function
 * {@code submit_workloads} inserts the rows of submissions, as this package prepares them.
 *
 * <p>Does not own: the resources that are written (their packages).
 *
 * <p>Invariants: a write, its inbox row, its audit entry and the stored reply commit together or not at all.
 */
@NullMarked
package io.quartermaster.platform.writes;

import org.jspecify.annotations.NullMarked;
