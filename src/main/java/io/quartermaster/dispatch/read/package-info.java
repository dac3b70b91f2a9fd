/**
 * The tables of a cell as inputs of the engine.
 *
 * <p>Owns: set-based reading of workloads, attempts, quotas and nodes; the settings of the cell.
 *
 * <p>Does not own: writing, except the marks of quarantine.
 *
 * <p>Invariants: a few statements per read, however many workloads are asked for.
 */
@NullMarked
package io.quartermaster.dispatch.read;

import org.jspecify.annotations.NullMarked;
