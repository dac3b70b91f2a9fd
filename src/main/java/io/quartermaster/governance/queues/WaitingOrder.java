package io.quartermaster.governance.queues;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * The places that an admin gives to the waiting workloads of a queue. They are part of the desired state: a workload
 * that starts in the meantime loses its place.
 */
final class WaitingOrder {

    /** An admin that has to order more workloads by hand should use priorities instead. */
    static final int MAX_WORKLOADS = 1_000;

    private static final String WAITS = """
             tenant_id = :tenant and queue_id = :queue and state in ('held', 'waiting', 'paused') and wish <> 'cancel'
            """;

    private WaitingOrder() {}

    /** Reports every entry that is no id or appears twice, and a list that is too long. */
    static List<UUID> validate(@Nullable List<@Nullable UUID> asked) {
        if (asked == null || asked.size() > MAX_WORKLOADS) {
            throw ProblemException.invalid(
                    "workloads",
                    asked == null ? "there are none" : "too many",
                    "a list of at most " + MAX_WORKLOADS + " ids; an empty one for the order of submission");
        }
        var problems = new ProblemException.Invalid();
        Set<UUID> seen = new HashSet<>();
        List<UUID> first = new ArrayList<>(asked.size());
        for (int i = 0; i < asked.size(); i++) {
            UUID id = asked.get(i);
            if (id == null || !seen.add(id)) {
                problems.add("workloads[" + i + "]", id == null ? "is null" : "is named twice", "each workload once");
            } else {
                first.add(id);
            }
        }
        problems.throwIfAny();
        return first;
    }

    /** The workloads that have a place, in their order within each priority. */
    static Uni<List<UUID>> readOrdered(Mutiny.Session session, TenantId tenant, UUID queue) {
        return session.createNativeQuery(
                        "select cast(id as text) from workload where" + WAITS
                                + " and place is not null order by place, seq",
                        String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("queue", queue)
                .getResultList()
                .map(ids -> ids.stream().map(UUID::fromString).toList());
    }

    /**
     * Gives these workloads the first places, removes the places of all others, and notifies the leader of each
     * workload whose place changes.
     */
    static Uni<Void> set(Mutiny.Session session, TenantId tenant, UUID queue, List<UUID> first) {
        return requireWaiting(session, tenant, queue, first)
                .chain(() -> session.createNativeQuery("""
                                with asked as (
                                    select x.id, cast(x.place as int) as place
                                      from unnest(cast(string_to_array(cast(:first as text), ',')
                                          as uuid[])) with ordinality as x(id, place)),
                                moved as (
                                    update workload w set place = (select a.place from asked a where a.id = w.id)
                                     where """ + WAITS + """
                                       and (place is not null or id in (select id from asked))
                                       and place is distinct from (select a.place from asked a where a.id = w.id)
                                    returning w.id)
                                insert into inbox (tenant_id, kind, ref) select :tenant, 'workload', cast(id
                                    as text) from moved
                                """)
                        .setParameter(
                                "first", first.stream().map(UUID::toString).collect(Collectors.joining(",")))
                        .setParameter("tenant", tenant.value())
                        .setParameter("queue", queue)
                        .executeUpdate())
                .replaceWithVoid();
    }

    private static Uni<Void> requireWaiting(Mutiny.Session session, TenantId tenant, UUID queue, List<UUID> first) {
        if (first.isEmpty()) {
            return Uni.createFrom().voidItem();
        }
        return session.createNativeQuery(
                        "select cast(id as text) from workload where" + WAITS + " and id in (:ids)", String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("queue", queue)
                .setParameter("ids", first)
                .getResultList()
                .invoke(found -> {
                    List<Problem.Field> missing = new ArrayList<>();
                    for (int i = 0; i < first.size(); i++) {
                        if (!found.contains(first.get(i).toString())) {
                            missing.add(new Problem.Field(
                                    "workloads[" + i + "]",
                                    "does not wait in this queue",
                                    "the id of a workload that waits in it"));
                        }
                    }
                    if (!missing.isEmpty()) {
                        throw new ProblemException(Problem.of(
                                422, "not-waiting", "only workloads that wait in the queue can have a place", missing));
                    }
                })
                .replaceWithVoid();
    }
}
