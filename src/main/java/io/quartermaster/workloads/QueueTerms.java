package io.quartermaster.workloads;

import io.quartermaster.access.AccessRules;
import io.quartermaster.access.GroupPath;
import java.util.UUID;

/**
 * What a submission needs to know of its queue.
 *
 * @param version of the queue, which the insert compares again
 * @param withGpus whether a worker of the profile has GPUs, or parts of them
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
        boolean withGpus,
        int maxWaiting,
        boolean draining,
        boolean tenantActive,
        AccessRules rules) {}
