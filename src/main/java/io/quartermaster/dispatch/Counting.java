package io.quartermaster.dispatch;

import io.quartermaster.dispatch.QuotaFacts.Level;
import io.quartermaster.dispatch.WorkloadRecord.LiveAttempt;
import io.quartermaster.workloads.Counted;
import io.quartermaster.workloads.Counted.Place;
import io.quartermaster.workloads.Tally;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Keeps the tally of the live counters in step with what the leader reads and decides. */
final class Counting {

    private final Tally tally = new Tally();

    Tally tally() {
        return tally;
    }

    void quota(QuotaFacts facts) {
        Map<UUID, Map<UUID, Long>> ofPolicies = new TreeMap<>();
        facts.groups().keySet().forEach(policy -> ofPolicies.put(policy, new TreeMap<>()));
        for (Level level : facts.levels()) {
            if (level.policy() != null) {
                ofPolicies
                        .computeIfAbsent(level.policy(), policy -> new TreeMap<>())
                        .put(level.pool(), level.gpuMilli());
            }
        }
        tally.tenant(facts.tenant(), !facts.suspended(), facts.reserved());
        ofPolicies.forEach((policy, reserved) ->
                tally.policy(facts.tenant(), policy, facts.groups().getOrDefault(policy, ""), reserved));
    }

    void workload(WorkloadRecord record) {
        Place place = record.over()
                ? new Place.Over()
                : record.attempt().map(Counting::holding).orElseGet(Place.Queued::new);
        tally.workload(counted(record, place));
    }

    /** It holds so much of the pool from now on. */
    void holds(WorkloadRecord record, UUID pool, long gpuMilli) {
        tally.workload(counted(record, new Place.Holding(pool, gpuMilli)));
    }

    private static Place holding(LiveAttempt attempt) {
        return new Place.Holding(attempt.pool(), attempt.heldGpuMilli());
    }

    private static Counted counted(WorkloadRecord record, Place place) {
        WorkloadRecord.Terms terms = record.terms();
        return new Counted(
                record.tenant(),
                record.id(),
                terms.queue(),
                terms.policy(),
                terms.pools(),
                terms.wholeGpuMilli(),
                place);
    }
}
