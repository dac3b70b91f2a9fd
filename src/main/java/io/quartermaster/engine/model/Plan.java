package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/**
 * What to do now.
 *
 * @param decisions in the order in which they were taken; a start may need the room that an earlier one left
 * @param news the waiting work whose reasons (code, pool or path in the way) are not what they were after the last plan,
 *     in order of the first one's id; numbers alone make no new reason
 * @param nextPlanAtMillis when time alone may change something, if nothing else happens before
 */
public record Plan(
        long nowMillis, List<Decision> decisions, List<ReasonChange> reasonChanges, OptionalLong nextPlanAtMillis) {

    public Plan {
        decisions = List.copyOf(decisions);
        reasonChanges = List.copyOf(reasonChanges);
    }

    /** The news for each workload, in order of their ids. */
    public List<WaitReasons> waits() {
        List<WaitReasons> waits = new ArrayList<>();
        for (ReasonChange told : reasonChanges) {
            told.workloads().forEach(workload -> waits.add(new WaitReasons(workload.id(), told.perPool())));
        }
        waits.sort(Comparator.comparing(WaitReasons::workload));
        return waits;
    }
}
