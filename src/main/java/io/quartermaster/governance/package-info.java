/**
 * What a tenant's admins state: profiles (shapes of jobs), policies (who gets how much), and the queues that come of both.
 *
 * <p>Owns: the tables {@code profile}, {@code policy}, {@code policy_quota} and {@code queue}, the making of a queue's first access rule,
 * and {@link io.quartermaster.governance.rules.QuotaTreeBuilder}, the one place that turns allotments and policies into the engine's quotas.
 *
 * <p>Does not own: allotments and capacity reservations (package {@code capacity}; who may hold one of a group is decided here); the meaning of access rules (package {@code access}); workloads, of which it
 * only asks to cancel or moves what waits in a queue that is retired.
 *
 * <p>Invariants: the reservations of children fit their parent's, down from the allotment, in every pool and over all pools together; a
 * queue is one policy with one profile; nothing is deleted, things are retired. Writes of one tenant's quotas happen one after the other,
 * so that two of them cannot each be right alone and wrong together.
 */
@NullMarked
package io.quartermaster.governance;

import org.jspecify.annotations.NullMarked;
