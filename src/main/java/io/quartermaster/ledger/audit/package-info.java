/**
 * Checks over segments and events: equations, replay, hash chain.
 *
 * <p>Owns: the equations that hold for correct usage, the comparison with a replay, the chain of hashes.
 *
 * <p>Does not own: where segments are stored.
 *
 * <p>Invariants: a check never repairs; it reports what does not agree.
 */
@NullMarked
package io.quartermaster.ledger.audit;

import org.jspecify.annotations.NullMarked;
