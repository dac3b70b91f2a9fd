/**
 * The declared inputs and the scheduling state that is built from them.
 *
 * <p>Owns: workloads by state, scheduling classes, the quota calendar, the log of changes.
 *
 * <p>Does not own: the meaning of quotas (package {@code engine.quota}) and of devices (package
 * {@code engine.placement}).
 *
 * <p>Invariants: the state can be rebuilt from the declared inputs at any time, and the rebuilt state leads to the same
 * plans.
 */
@NullMarked
package io.quartermaster.engine.state;

import org.jspecify.annotations.NullMarked;
