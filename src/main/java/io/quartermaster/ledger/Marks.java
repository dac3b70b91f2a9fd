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
public record Marks(
        PolicyId policy,
        String group,
        String profile,
        String queue,
        String workload,
        String attempt,
        String user,
        String cluster,
        boolean preemptible) {
    public Marks {
        Texts.requireText(group, "group");
        Texts.requireText(profile, "profile");
        Texts.requireText(queue, "queue");
        Texts.requireText(workload, "workload");
        Texts.requireText(attempt, "attempt");
        Texts.requireText(user, "user");
        Texts.requireText(cluster, "cluster");
    }
}
