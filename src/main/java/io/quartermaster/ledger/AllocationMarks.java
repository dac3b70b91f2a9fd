package io.quartermaster.ledger;

/**
 * The attributes of an allocation, which are fixed from its binding until it is freed. The ledger assigns usage to
 * reserved amounts by {@code policy}. It carries all other attributes unread, so that usage can be summed by them.
 *
 * @param policy the policy that the workload was submitted under
 * @param group the group's path, such as {@code /research/nlp}
 * @param user the member or service account that submitted the workload
 * @param preemptible whether the scheduler may give its devices to other workloads
 * @param labels the labels of the workload under the keys that the tenant had declared for its usage
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
        boolean preemptible,
        UsageLabels labels) {
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
