package io.quartermaster.workloads;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.governance.rules.GpuRange;
import java.util.UUID;

/**
 * The terms of a queue for submissions.
 *
 * @param versions the versions that were read, which the insert compares again
 * @param rights of its policy
 * @param gpus of one worker of the profile
 * @param maxWaiting the most workloads that may wait in it
 * @param draining whether it takes no new workloads
 */
record QueueTerms(
        UUID id,
        String name,
        Versions versions,
        SubmissionRightsValidator rights,
        UUID profile,
        GroupPath group,
        GpuRange gpus,
        int maxWaiting,
        boolean draining,
        boolean tenantActive,
        QueueAccessRules rules) {

    /**
     * The versions at which the terms were read.
     *
     * @param rules counts the changes of the queue's access rules
     */
    record Versions(long queue, long rules, long policy, long profile) {}
}
