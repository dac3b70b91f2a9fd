package io.quartermaster.ledger;

/**
 * What is known of an allocation when it is bound and stays true until it is freed. The books fill by {@code policy};
 * everything else is carried unread, so that usage can be summed by it.
 *
 * @param policy the policy it was submitted under
 * @param group the group's path, such as {@code /research/nlp}
 * @param user the member or service account that submitted it
 * @param preemptible whether others may take its devices
 */
public record AllocationMarks(
        PolicyId policy,
        String group,
        String profile,
        String queue,
        String workload,
        String attempt,
        String user,
        String cluster,
        boolean preemptible) {
    public AllocationMarks {
        RecordChecks.requireText(group, "group");
        RecordChecks.requireText(profile, "profile");
        RecordChecks.requireText(queue, "queue");
        RecordChecks.requireText(workload, "workload");
        RecordChecks.requireText(attempt, "attempt");
        RecordChecks.requireText(user, "user");
        RecordChecks.requireText(cluster, "cluster");
    }
}
