/**
 * Makes a cluster run what was allocated; one sub-package per kind of cluster.
 *
 * <p>Owns: nothing itself; each sub-package states what it owns.
 *
 * <p>Does not own: the devices and the state of an attempt.
 *
 * <p>Invariants: executors are level-triggered: they receive the desired state and report the actual state, and a lost
 * message costs time, never correctness.
 */
@NullMarked
package io.quartermaster.execution;

import org.jspecify.annotations.NullMarked;
