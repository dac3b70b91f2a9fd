package io.quartermaster.workloads;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.governance.rules.GpuRange;
import java.util.UUID;

/**
 * What a submission needs to know of its queue.
 *
 * @param versions of what was read, which the insert compares again
 * @param rights of its policy
 * @param gpus of one worker of the profile
 * @param maxWaiting most that may wait in it
 * @param draining whether it takes no more work
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
     * The versions that all of the above was read at.
     *
     * @param rules counts the changes of the queue's access rules
     */
    record Versions(long queue, long rules, long policy, long profile) {}
}
