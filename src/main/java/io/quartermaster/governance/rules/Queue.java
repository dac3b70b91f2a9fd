package io.quartermaster.governance.rules;

import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.platform.Ids;
import java.util.UUID;

/**
 * A policy combined with a profile; members submit to it.
 *
 * @param overQuota whether work of this queue may run beyond the group's reservation
 * @param terms the settings of the queue; an admin may change them
 */
public record Queue(UUID id, String name, UUID policy, UUID profile, Terms terms, long version) {

    public static final int DEFAULT_MAX_WAITING = 10_000;
    public static final int MAX_MAX_WAITING = 1_000_000;

    /**
     * The settings of a queue.
     *
     * @param overQuota whether its work may run beyond the group's reservation
     * @param maxWaiting the number of workloads that may wait in it
     */
    public record Terms(boolean overQuota, int maxWaiting, QueueState state, QueueOrder order) {

        /** The settings of a queue for which the request states none. */
        public static final Terms DEFAULT =
                new Terms(true, DEFAULT_MAX_WAITING, QueueState.OPEN, QueueOrder.SKIP_AHEAD);
    }

    public static Queue of(String name, Policy policy, Profile profile, Terms terms) {
        return new Queue(Ids.next(), name, policy.id(), profile.id(), terms, 0);
    }

    /** The next version of the queue, with other settings. */
    public Queue with(Terms changed) {
        return new Queue(id, name, policy, profile, changed, version + 1);
    }

    /** The name of a queue that the policy creates. */
    public static String nameOf(String policy, String profile) {
        return policy + "-" + profile;
    }
}
