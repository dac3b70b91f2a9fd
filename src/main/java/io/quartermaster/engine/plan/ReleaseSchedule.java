package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The times at which work in a pool releases its devices, by stated run times, the earliest first.
 *
 * @param lastLeavesMillis the time by which all evicted work has left
 */
public record ReleaseSchedule(List<Ending> inOrder, long lastLeavesMillis) {

    /** No end is known. */
    public static final long NEVER = Long.MAX_VALUE;

    /** A running workload with the latest time at which it ends. */
    public record Ending(WorkloadId workload, Booking tenure, long startedMillis, long atMillis) {
        static final Comparator<Ending> EARLIEST_FIRST = Comparator.comparingLong(Ending::atMillis)
                .thenComparingLong(Ending::startedMillis)
                .thenComparing(Ending::workload);
    }

    public static ReleaseSchedule of(DeclaredState declaredState, PoolId pool, long nowMillis) {
        List<Ending> endings = new ArrayList<>();
        long lastLeaves = nowMillis;
        for (Workload workload : declaredState.workloads()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding
                    && holding.allocation().pool().equals(pool)) {
                long end = workload.maxRuntimeMillis().isEmpty()
                        ? NEVER
                        : Math.max(
                                nowMillis,
                                holding.startedMillis()
                                        + workload.maxRuntimeMillis().getAsLong());
                SchedulingState.remaining(holding)
                        .ifPresent(rest -> endings.add(new Ending(
                                workload.id(), SchedulingState.booking(workload, rest), holding.startedMillis(), end)));
                lastLeaves = Math.max(lastLeaves, leaves(holding, nowMillis));
            }
        }
        endings.sort(Ending.EARLIEST_FIRST);
        return new ReleaseSchedule(endings, lastLeaves);
    }

    private static long leaves(WorkloadPhase.Holding holding, long nowMillis) {
        return switch (holding.phase()) {
            case WorkloadPhase.Phase.Running running -> nowMillis;
            case WorkloadPhase.Phase.Incomplete incomplete -> nowMillis;
            case WorkloadPhase.Phase.Stopping stopping -> stopping.deadlineMillis();
            case WorkloadPhase.Phase.Shrinking shrinking -> shrinking.deadlineMillis();
        };
    }
}
