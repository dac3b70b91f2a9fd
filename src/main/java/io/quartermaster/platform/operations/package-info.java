/**
 * Long-running operations: accepted with 202, then carried out step by step by one replica.
 *
 * <p>Owns: the table {@code operation}, retries and their pauses.
 *
 * <p>Does not own: the steps (each kind of operation has a handler with its steps).
 *
 * <p>Invariants: one process at a time works on an operation; each step is stored before the next begins, so a
 * step may be repeated once after a crash.
 */
@NullMarked
package io.quartermaster.platform.operations;

import org.jspecify.annotations.NullMarked;
