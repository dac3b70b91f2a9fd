package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.read.QuotaFacts;
import io.quartermaster.dispatch.read.QuotaFacts.Level;
import io.quartermaster.workloads.counters.CountedWorkload;
import io.quartermaster.workloads.counters.CountedWorkload.Place;
import io.quartermaster.workloads.counters.LiveCounterTotals;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Keeps the totals of the live counters in step with the leader's reads and decisions. */
public final class CounterUpdater {

    private final LiveCounterTotals liveCounterTotals = new LiveCounterTotals();

    public LiveCounterTotals totals() {
        return liveCounterTotals;
    }

    public void setQuota(QuotaFacts facts) {
        Map<UUID, Map<UUID, Long>> ofPolicies = new TreeMap<>();
        facts.groups().keySet().forEach(policy -> ofPolicies.put(policy, new TreeMap<>()));
        for (Level level : facts.levels()) {
            if (level.policy() != null) {
                ofPolicies
                        .computeIfAbsent(level.policy(), policy -> new TreeMap<>())
                        .put(level.pool(), level.gpuMilli());
            }
        }
        liveCounterTotals.setTenant(facts.tenant(), !facts.suspended(), facts.reserved());
        ofPolicies.forEach((policy, reserved) -> liveCounterTotals.setPolicy(
                facts.tenant(), policy, facts.groups().getOrDefault(policy, ""), reserved));
    }

    public void setWorkload(WorkloadRecord record) {
        Place place = record.isOver()
                ? new Place.Over()
                : record.attempt().map(CounterUpdater::holding).orElseGet(Place.Queued::new);
        liveCounterTotals.setWorkload(toCountedWorkload(record, place));
    }

    /** Counts that the workload holds this amount of the pool from now on. */
    public void setHolding(WorkloadRecord record, UUID pool, long gpuMilli) {
        liveCounterTotals.setWorkload(toCountedWorkload(record, new Place.Holding(pool, gpuMilli)));
    }

    private static Place holding(LiveAttempt attempt) {
        return new Place.Holding(attempt.pool(), attempt.heldGpuMilli());
    }

    private static CountedWorkload toCountedWorkload(WorkloadRecord record, Place place) {
        WorkloadRecord.Terms terms = record.terms();
        return new CountedWorkload(
                record.tenant(),
                record.id(),
                terms.queue(),
                terms.policy(),
                terms.pools(),
                terms.wholeGpuMilli(),
                place);
    }
}
