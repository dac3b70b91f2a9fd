package io.quartermaster.workloads;

import io.quartermaster.access.AccessRules;
import io.quartermaster.access.GroupPath;
import io.quartermaster.governance.GpuRange;
import java.util.UUID;

/**
 * What a submission needs to know of its queue.
 *
 * @param version of the queue, which the insert compares again
 * @param gpus of one worker of the profile
 * @param maxWaiting most that may wait in it
 * @param draining whether it takes no more work
 */
record QueueTerms(
        UUID id,
        String name,
        long version,
        UUID policy,
        UUID profile,
        GroupPath group,
        GpuRange gpus,
        int maxWaiting,
        boolean draining,
        boolean tenantActive,
        AccessRules rules) {}
