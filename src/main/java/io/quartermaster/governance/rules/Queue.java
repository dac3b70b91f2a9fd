package io.quartermaster.governance.rules;

import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.platform.Ids;
import java.util.UUID;

/**
 * A policy with a profile: what a member submits to.
 *
 * @param overQuota whether work of this queue may run beyond what is reserved for the group
 * @param terms what holds for its work; an admin may change it
 */
public record Queue(UUID id, String name, UUID policy, UUID profile, Terms terms, long version) {

    public static final int DEFAULT_MAX_WAITING = 10_000;
    public static final int MAX_MAX_WAITING = 1_000_000;

    /**
     * What an admin says of a queue.
     *
     * @param overQuota whether its work may run beyond what is reserved for the group
     * @param maxWaiting how many workloads may wait in it
     */
    public record Terms(boolean overQuota, int maxWaiting, QueueState state, QueueOrder order) {

        /** Of a queue of which nothing else is said. */
        public static final Terms DEFAULT =
                new Terms(true, DEFAULT_MAX_WAITING, QueueState.OPEN, QueueOrder.SKIP_AHEAD);
    }

    /** A new one. */
    public static Queue of(String name, Policy policy, Profile profile, Terms terms) {
        return new Queue(Ids.next(), name, policy.id(), profile.id(), terms, 0);
    }

    /** The same queue on other terms: its next version. */
    public Queue with(Terms changed) {
        return new Queue(id, name, policy, profile, changed, version + 1);
    }

    /** The name a queue gets when the policy makes it. */
    public static String nameOf(String policy, String profile) {
        return policy + "-" + profile;
    }
}
