package io.quartermaster.insight;

import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.simulation.Forecast;
import io.quartermaster.engine.simulation.Forecaster;
import io.quartermaster.workloads.OutlookSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A snapshot of the cell with what was worked out from it so far. Of the one thread of {@link CellQueryExecutor}. */
final class CellView {

    /** The leader's decisions of one moment come to an end; this is far more than that takes. */
    private static final int MOST_PLANS = 50;
    /** One explanation must not keep the others waiting. */
    private static final Duration REMEDY_TIME = Duration.ofMillis(500);

    private final CellSnapshot snapshot;
    private final InsightConfig config;
    private @Nullable Engine planned;
    private @Nullable Forecast forecast;
    private final Map<WorkloadId, Optional<Outlook>> outlooks = new HashMap<>();
    private long costNanos;

    /** @param costNanos what reading the snapshot took */
    CellView(CellSnapshot snapshot, InsightConfig config, long costNanos) {
        this.snapshot = snapshot;
        this.config = config;
        this.costNanos = costNanos;
    }

    /** What it took to read it and to work out what is used again. */
    long costNanos() {
        return costNanos;
    }

    CellSnapshot snapshot() {
        return snapshot;
    }

    /** Why it waits after the plans of the moment; empty for what does not. */
    Optional<WaitReasons> wait(WorkloadId workload) {
        return planned().explain(workload);
    }

    /** Where something stands that has no reason to wait. */
    OutlookSource.Standing standing(WorkloadId workload) {
        return snapshot.workloads().stream()
                .filter(known -> known.id().equals(workload) && known.state() instanceof WorkloadPhase.Waiting)
                .findFirst()
                .map(known -> known.held() ? OutlookSource.Standing.KEPT_BACK : OutlookSource.Standing.STARTS)
                .orElse(OutlookSource.Standing.UNKNOWN);
    }

    /**
     * Empty for what does not wait, or waits only for its place to be left. What would be enough is searched for at most {@link #REMEDY_TIME}; it is worked out once
     * for each.
     */
    Optional<Outlook> outlook(WorkloadId workload) {
        return outlooks.computeIfAbsent(workload, id -> {
            Engine engine = planned();
            long until = System.nanoTime() + REMEDY_TIME.toNanos();
            return engine.outlook(id, snapshot.asOfMillis(), () -> System.nanoTime() - until > 0);
        });
    }

    private Engine planned() {
        Engine engine = planned;
        if (engine == null) {
            long begun = System.nanoTime();
            engine = snapshot.engine();
            for (int i = 0; i < MOST_PLANS; i++) {
                if (engine.plan(snapshot.asOfMillis()).decisions().isEmpty()) {
                    break;
                }
            }
            planned = engine;
            costNanos += System.nanoTime() - begun;
        }
        return engine;
    }

    /** What becomes of the cell when nothing comes from outside. */
    Forecast forecast() {
        Forecast known = forecast;
        if (known == null) {
            long begun = System.nanoTime();
            known = Forecaster.play(
                    snapshot.engine(),
                    snapshot.workloads(),
                    new Forecaster.Stops(snapshot::yielding, snapshot.maxGraceMillis()),
                    snapshot.asOfMillis(),
                    bounds(config.horizon(), config.forecastTimeLimit()));
            forecast = known;
            costNanos += System.nanoTime() - begun;
        }
        return known;
    }

    /** The same, as far as is asked; what is known already is used where it reaches as far. */
    Forecast forecast(Duration horizon, Duration time) {
        Forecast known = forecast;
        return known != null && known.complete() && horizon.equals(config.horizon())
                ? known
                : Forecaster.play(
                        snapshot.engine(),
                        snapshot.workloads(),
                        new Forecaster.Stops(snapshot::yielding, snapshot.maxGraceMillis()),
                        snapshot.asOfMillis(),
                        bounds(horizon, time));
    }

    /** @param time from now on */
    Forecaster.Bounds bounds(Duration horizon, Duration time) {
        long until = System.nanoTime() + time.toNanos();
        return new Forecaster.Bounds(
                snapshot.asOfMillis() + horizon.toMillis(), config.plansLimit(), () -> System.nanoTime() - until > 0);
    }
}
