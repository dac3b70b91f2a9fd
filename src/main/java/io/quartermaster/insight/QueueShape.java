package io.quartermaster.insight;

import io.quartermaster.access.GroupPath;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.SubmissionRights;
import java.util.Optional;

/**
 * What work of a queue would be.
 *
 * @param id empty where there is no such queue
 * @param profile its pools are named by their names
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
