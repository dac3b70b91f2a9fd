/**
 * The candidate queue: the waiting work that is tried next, and its attempt.
 *
 * <p>Owns: the order of candidates by quota trees, the attempt that each makes next.
 *
 * <p>Does not own: placement and victims.
 *
 * <p>Invariants: every order ends with an id, so the same state gives the same order.
 */
@NullMarked
package io.quartermaster.engine.order;

import org.jspecify.annotations.NullMarked;
