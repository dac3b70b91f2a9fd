/**
 * The rules that a tenant's admins set: profiles (shapes of jobs), policies (grants to groups), and the queues that
 * combine them.
 *
 * <p>Owns: the tables {@code profile}, {@code policy}, {@code policy_quota} and {@code queue}; the creation of a
 * queue's first access rule; {@link io.quartermaster.governance.rules.QuotaTreeBuilder}, the one place that turns
 * allotments and policies into the engine's quotas.
 *
 * <p>Does not own: allotments and capacity reservations (package {@code capacity}; this package decides which groups
 * may hold one); the meaning of access rules (package {@code access}); workloads, of which it only cancels or moves
 * those that wait in a retired queue.
 *
 * <p>Invariants: the reservations of children fit their parent's, from the allotment downwards, in every pool and over
 * all pools together; a queue is one policy with one profile; nothing is deleted, objects are retired. Writes of one
 * tenant's quotas run one after the other, so that two writes that are valid alone cannot be invalid together.
 */
@NullMarked
package io.quartermaster.governance;

import org.jspecify.annotations.NullMarked;
