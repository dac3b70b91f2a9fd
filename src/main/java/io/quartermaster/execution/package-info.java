/**
 * Makes a cluster run what was allocated; one sub-package per kind of cluster.
 *
 * <p>Owns: nothing of its own; each sub-package says what it owns.
 *
 * <p>Does not own: which devices an attempt holds, and what state it is in.
 *
 * <p>Invariants: executors are level-triggered: they are told what should be, they report what is, and a lost message costs time, never
 * truth.
 */
@NullMarked
package io.quartermaster.execution;

import org.jspecify.annotations.NullMarked;
