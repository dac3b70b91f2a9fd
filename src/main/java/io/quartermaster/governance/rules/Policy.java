package io.quartermaster.governance.rules;

import io.quartermaster.access.GroupPath;
import io.quartermaster.engine.model.Scope;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * The grant of a tenant admin to a group.
 *
 * @param quotas at most one per pool, and at most one over all pools
 * @param overQuota whether the group may run work beyond its reservation
 * @param graceMillis how long preempted work keeps its devices after the notice
 * @param userLimitGpuMilli the most that one user of the group may hold at the same time; absent = no limit of its own
 * @param maxRunning the number of workloads of the group, and of groups below it, that may run at the same time; absent
 *     = no limit
 * @param rights what its submissions may state
 * @param groupGoneSince the time since which the realm lacks the group; until it is back, no work of the policy starts,
 *     and running work continues
 * @param version grows with every change
 */
public record Policy(
        UUID id,
        String name,
        GroupPath group,
        List<PolicyQuota> quotas,
        boolean overQuota,
        PreemptionAction onPreemption,
        long graceMillis,
        OptionalLong userLimitGpuMilli,
        OptionalInt maxRunning,
        SubmissionRights rights,
        Optional<Instant> groupGoneSince,
        long version) {

    public static final long DEFAULT_GRACE_MILLIS = 30_000;
    public static final long MAX_GRACE_MILLIS = 3_600_000;

    public static final int MAX_MAX_RUNNING = 1_000_000;

    public Policy {
        quotas = List.copyOf(quotas);
        Set<Object> scopes = new HashSet<>();
        for (PolicyQuota quota : quotas) {
            if (!scopes.add(quota.scope())) {
                throw new IllegalArgumentException("policy " + name + " has two quotas for " + quota.scope());
            }
        }
        if (graceMillis < 0 || graceMillis > MAX_GRACE_MILLIS) {
            throw new IllegalArgumentException("grace is 0 to " + MAX_GRACE_MILLIS + " ms: " + graceMillis);
        }
    }

    /** A policy whose group exists, with no limit on running workloads, and the default rights. */
    public Policy(
            UUID id,
            String name,
            GroupPath group,
            List<PolicyQuota> quotas,
            boolean overQuota,
            PreemptionAction onPreemption,
            long graceMillis,
            OptionalLong userLimitGpuMilli,
            long version) {
        this(
                id,
                name,
                group,
                quotas,
                overQuota,
                onPreemption,
                graceMillis,
                userLimitGpuMilli,
                OptionalInt.empty(),
                SubmissionRights.DEFAULT,
                Optional.empty(),
                version);
    }

    public PolicyState state() {
        return groupGoneSince.isPresent() ? PolicyState.SUSPENDED : PolicyState.ACTIVE;
    }

    public Policy withGroupGoneSince(Optional<Instant> since) {
        return new Policy(
                id,
                name,
                group,
                quotas,
                overQuota,
                onPreemption,
                graceMillis,
                userLimitGpuMilli,
                maxRunning,
                rights,
                since,
                version + 1);
    }

    /** The same policy with other grants. */
    public Policy with(
            List<PolicyQuota> otherQuotas,
            boolean mayGoBeyond,
            OptionalLong otherUserLimitGpuMilli,
            OptionalInt otherMaxRunning) {
        return new Policy(
                id,
                name,
                group,
                otherQuotas,
                mayGoBeyond,
                onPreemption,
                graceMillis,
                otherUserLimitGpuMilli,
                otherMaxRunning,
                rights,
                groupGoneSince,
                version);
    }

    public Optional<PolicyQuota> quotaFor(Scope scope) {
        return quotas.stream().filter(quota -> quota.scope().equals(scope)).findFirst();
    }
}
