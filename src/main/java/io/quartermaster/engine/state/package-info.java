/**
 * The declared inputs and the scheduling state that is built from them.
 *
 * <p>Owns: workloads by state, scheduling classes, the quota calendar, the log of changes.
 *
 * <p>Does not own: the meaning of quotas (package {@code engine.quota}) and of devices (package {@code
 * engine.placement}).
 *
 * <p>Invariants: the state can be built again from the declared inputs at any time, and plans the same.
 */
@NullMarked
package io.quartermaster.engine.state;

import org.jspecify.annotations.NullMarked;
