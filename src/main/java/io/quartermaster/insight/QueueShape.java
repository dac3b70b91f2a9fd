package io.quartermaster.insight;

import io.quartermaster.access.AccessRules;
import io.quartermaster.access.GroupPath;
import io.quartermaster.governance.Profile;
import io.quartermaster.governance.QueueState;

/**
 * What work of a queue would be.
 *
 * @param profile its pools are named by their names
 */
record QueueShape(
        String name,
        GroupPath group,
        QueueState state,
        boolean overQuota,
        long graceMillis,
        boolean requeues,
        Profile profile,
        AccessRules rules) {}
