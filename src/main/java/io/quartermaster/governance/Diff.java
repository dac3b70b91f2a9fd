package io.quartermaster.governance;

import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.TenantRules;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The difference that a change makes to one type of object: the new, the changed and the retired ones. */
record Diff<T>(List<T> added, List<T> changed, List<T> removed) {

    static Diff<Policy> ofPolicies(TenantRules before, TenantRules after) {
        return of(before.policies(), after.policies(), Policy::id);
    }

    static Diff<Profile> ofProfiles(TenantRules before, TenantRules after) {
        return of(before.profiles(), after.profiles(), Profile::id);
    }

    static Diff<Queue> ofQueues(TenantRules before, TenantRules after) {
        return of(before.queues(), after.queues(), Queue::id);
    }

    private static <T> Diff<T> of(List<T> before, List<T> after, Function<T, UUID> id) {
        Set<UUID> known = ids(before, id);
        Set<T> unchanged = new HashSet<>(before);
        return new Diff<>(
                withoutIds(after, known, id),
                after.stream()
                        .filter(one -> known.contains(id.apply(one)) && !unchanged.contains(one))
                        .toList(),
                withoutIds(before, ids(after, id), id));
    }

    private static <T> Set<UUID> ids(List<T> all, Function<T, UUID> id) {
        return all.stream().map(id).collect(Collectors.toSet());
    }

    private static <T> List<T> withoutIds(List<T> all, Set<UUID> others, Function<T, UUID> id) {
        return all.stream().filter(one -> !others.contains(id.apply(one))).toList();
    }
}
