package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.read.QuotaFacts;

import io.quartermaster.dispatch.read.QuotaFacts.Level;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.workloads.counters.Counted;
import io.quartermaster.workloads.counters.Counted.Place;
import io.quartermaster.workloads.counters.Tally;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Keeps the tally of the live counters in step with what the leader reads and decides. */
public final class Counting {

    private final Tally tally = new Tally();

    public Tally tally() {
        return tally;
    }

    public void quota(QuotaFacts facts) {
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

    public void workload(WorkloadRecord record) {
        Place place = record.over()
                ? new Place.Over()
                : record.attempt().map(Counting::holding).orElseGet(Place.Queued::new);
        tally.workload(counted(record, place));
    }

    /** It holds so much of the pool from now on. */
    public void holds(WorkloadRecord record, UUID pool, long gpuMilli) {
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
