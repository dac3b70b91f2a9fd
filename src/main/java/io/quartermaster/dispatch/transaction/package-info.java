/**
 * The transaction of the leader: the fence, and the rows that it writes.
 *
 * <p>Owns: taking and renewing the fence, the batch of rows of a plan, the failures of such a transaction.
 *
 * <p>Does not own: the choice of a plan's rows (package {@code dispatch.commit}).
 *
 * <p>Invariants: nothing is written before the fence is held; every time written is the stamp of the fence.
 */
@NullMarked
package io.quartermaster.dispatch.transaction;

import org.jspecify.annotations.NullMarked;
