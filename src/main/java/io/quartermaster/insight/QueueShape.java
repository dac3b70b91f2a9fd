package io.quartermaster.insight;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.SubmissionRights;
import java.util.Optional;

/**
 * The terms of a workload in a queue.
 *
 * @param id empty if no such queue exists
 * @param profile refers to pools by name
 */
record QueueShape(
        Optional<QueueId> id,
        String name,
        GroupPath group,
        QueueState state,
        boolean overQuota,
        long graceMillis,
        boolean requeues,
        Profile profile,
        QueueAccessRules rules,
        SubmissionRights rights) {}
