/**
 * A second implementation of the scheduling rules, for small cells. It scans plain lists, keeps nothing from plan to
 * plan but the facts and prunes nothing. It is the oracle for the engine.
 *
 * <p>Owns: the scheduling rules, each at one place, in the order of ARCHITECTURE.md. Does not own: the records
 * that enter and leave the engine; they are those of {@code engine.model}, the only package of the engine that this
 * one uses.
 *
 * <p>Invariants: no rule is taken from the engine's code. Where the rules leave a tie open, a comment states the
 * tie-break of the engine.
 */
@NullMarked
package io.quartermaster.engine.reference;

import org.jspecify.annotations.NullMarked;
