/**
 * The candidate queue: the waiting work that is tried next, and its attempt.
 *
 * <p>Owns: the attempt that each class makes next, and the order of these candidates. Work within its reservation comes
 * first. Then the order that the pool states decides, then that of the profile, then the quota trees.
 *
 * <p>Does not own: placement and victims.
 *
 * <p>Invariants: every order ends with an id, so the same state gives the same order.
 */
@NullMarked
package io.quartermaster.engine.order;

import org.jspecify.annotations.NullMarked;
