package io.quartermaster.governance;

import java.util.UUID;

/**
 * A policy with a profile: what a member submits to.
 *
 * @param overQuota whether work of this queue may run beyond what is reserved for the group
 * @param maxWaiting how many workloads may wait in it
 */
public record Queue(UUID id, String name, UUID policy, UUID profile, boolean overQuota, int maxWaiting, long version) {

    public static final int DEFAULT_MAX_WAITING = 10_000;
    public static final int MAX_MAX_WAITING = 1_000_000;

    /** The name a queue gets when the policy makes it. */
    public static String nameOf(String policy, String profile) {
        return policy + "-" + profile;
    }
}
