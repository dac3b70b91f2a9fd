package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/**
 * Result of a planning run.
 *
 * @param decisions the decisions in the order in which they were made; a start may need devices that an earlier
 *     decision frees
 * @param reasonChanges the waiting work whose reasons (code, pool or path) differ from those after the last plan, in
 *     the order of the first workload's id; a change of numbers alone does not count
 * @param nextPlanAtMillis when a plan may differ although no input changes
 */
public record Plan(
        long nowMillis, List<Decision> decisions, List<ReasonChange> reasonChanges, OptionalLong nextPlanAtMillis) {

    public Plan {
        decisions = List.copyOf(decisions);
        reasonChanges = List.copyOf(reasonChanges);
    }

    /** The changed reasons per workload, in the order of the ids. */
    public List<WaitReasons> waits() {
        List<WaitReasons> waits = new ArrayList<>();
        for (ReasonChange reasonChange : reasonChanges) {
            reasonChange
                    .workloads()
                    .forEach(workload -> waits.add(new WaitReasons(workload.id(), reasonChange.perPool())));
        }
        waits.sort(Comparator.comparing(WaitReasons::workload));
        return waits;
    }
}
