/**
 * Health checks and the threads on which they run.
 *
 * <p>Owns: threads that requests cannot take.
 *
 * <p>Does not own: the single checks (the packages that bring them).
 *
 * <p>Invariants: health and metrics answer also when all request threads are busy.
 */
@NullMarked
package io.quartermaster.platform.health;

import org.jspecify.annotations.NullMarked;
