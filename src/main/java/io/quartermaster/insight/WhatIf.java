package io.quartermaster.insight;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Forecast;
import io.quartermaster.engine.simulation.Forecaster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** Forecasts the cell twice, with and without changes, and compares both. */
final class WhatIf {

    /**
     * The changes of a simulation.
     *
     * @param changes applied to an engine after the present state
     * @param present all workloads as they would be at the first moment, without the new ones
     * @param added the new workloads, in order of submission
     * @param yielding how the new workloads stop as victims
     */
    record Variation(
            List<Change> changes,
            List<Workload> present,
            List<Workload> added,
            Map<WorkloadId, Forecaster.EvictionBehaviour> yielding) {}

    /** The fate of a workload up to the moment that both forecasts reach. */
    record PredictedRun(Optional<Forecast.Start> start, Optional<Forecast.Stop> stop, Optional<WaitReasons> why) {

        /** Whether both fates are alike; reasons that differ only in their numbers are. */
        boolean isSameAs(PredictedRun other) {
            return start.equals(other.start)
                    && stop.equals(other.stop)
                    && why.map(WaitReasons::reason)
                            .map(reason -> reason.code() + " " + reason.pool())
                            .equals(other.why
                                    .map(WaitReasons::reason)
                                    .map(reason -> reason.code() + " " + reason.pool()));
        }
    }

    record Difference(Workload workload, PredictedRun before, PredictedRun after) {}

    /**
     * @param added the fates of the new workloads, in their order
     * @param differences by id, of the workloads that the caller may see
     */
    record Result(
            long asOfMillis,
            long untilMillis,
            boolean complete,
            List<PredictedRun> added,
            List<Difference> differences,
            Forecast before,
            Forecast after) {}

    private WhatIf() {}

    static Result compare(
            CellView view, Variation variation, Predicate<Workload> included, Duration horizon, Duration time) {
        Duration half = time.dividedBy(2);
        Forecast before = view.forecast(horizon, half);
        List<Workload> all = new ArrayList<>(variation.present());
        all.addAll(variation.added());
        Engine engine = view.snapshot().engine(variation.changes(), all);
        Forecast after = Forecaster.forecast(
                engine,
                all,
                new Forecaster.EvictionBehaviours(
                        id -> Optional.ofNullable(variation.yielding().get(id))
                                .or(() -> view.snapshot().yielding(id)),
                        view.snapshot().maxGraceMillis()),
                view.snapshot().asOfMillis(),
                view.bounds(horizon, half));
        long until = Math.min(before.reachedMillis(), after.reachedMillis());
        List<Difference> differences = new ArrayList<>();
        for (Workload workload : view.snapshot().workloads()) {
            if (included.test(workload)) {
                PredictedRun was = predictedRun(before, workload.id(), until);
                PredictedRun is = predictedRun(after, workload.id(), until);
                if (!was.isSameAs(is)) {
                    differences.add(new Difference(workload, was, is));
                }
            }
        }
        differences.sort((a, b) -> a.workload().id().compareTo(b.workload().id()));
        return new Result(
                view.snapshot().asOfMillis(),
                until,
                before.complete() && after.complete(),
                variation.added().stream()
                        .map(workload -> predictedRun(after, workload.id(), until))
                        .toList(),
                differences,
                before,
                after);
    }

    private static PredictedRun predictedRun(Forecast forecast, WorkloadId id, long untilMillis) {
        Optional<Forecast.WorkloadForecast> known =
                Optional.ofNullable(forecast.perWorkload().get(id));
        return new PredictedRun(
                known.flatMap(Forecast.WorkloadForecast::start).filter(start -> start.atMillis() <= untilMillis),
                known.flatMap(Forecast.WorkloadForecast::stop).filter(stop -> stop.atMillis() <= untilMillis),
                Optional.ofNullable(forecast.waits().get(id)));
    }
}
