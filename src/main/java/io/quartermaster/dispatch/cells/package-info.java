/**
 * Cells in the API of the operator.
 *
 * <p>Owns: the resource of cells, the reset of a stamp that is ahead, the words of states in the contract.
 *
 * <p>Does not own: leading a cell (package {@code dispatch}).
 *
 * <p>Invariants: a stamp is set back only after a check that no stored row carries a later time.
 */
@NullMarked
package io.quartermaster.dispatch.cells;

import org.jspecify.annotations.NullMarked;
