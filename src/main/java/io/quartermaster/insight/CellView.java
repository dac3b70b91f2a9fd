package io.quartermaster.insight;

import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ShareExplanation;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.simulation.Forecast;
import io.quartermaster.engine.simulation.Forecaster;
import io.quartermaster.workloads.OutlookSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the cell with the results computed from it so far. Used only by the thread of
 * {@link CellQueryExecutor}.
 */
final class CellView {

    /** The most plans at one moment. The leader needs far fewer until it has no more decisions. */
    private static final int MAX_PLANS = 50;

    private final CellSnapshot snapshot;
    private final InsightConfig config;
    private @Nullable Engine planned;
    private @Nullable Forecast forecast;
    private final Map<WorkloadId, Optional<Outlook>> outlooks = new HashMap<>();
    private long costNanos;

    /** @param costNanos the time that reading the snapshot took */
    CellView(CellSnapshot snapshot, InsightConfig config, long costNanos) {
        this.snapshot = snapshot;
        this.config = config;
        this.costNanos = costNanos;
    }

    /** The time for reading the snapshot and computing the results that are reused. */
    long costNanos() {
        return costNanos;
    }

    CellSnapshot snapshot() {
        return snapshot;
    }

    /** The reasons for waiting after the plans of this moment; empty if the workload does not wait. */
    Optional<WaitReasons> waitReasons(WorkloadId workload) {
        return planned().explain(workload);
    }

    /** The status of a workload that has no reason to wait. */
    OutlookSource.Status status(WorkloadId workload) {
        return snapshot.workloads().stream()
                .filter(known -> known.id().equals(workload) && known.state() instanceof WorkloadPhase.Waiting)
                .findFirst()
                .map(known -> known.held() ? OutlookSource.Status.EXCLUDED : OutlookSource.Status.STARTS)
                .orElse(OutlookSource.Status.UNKNOWN);
    }

    /**
     * The outlook of a workload, computed once. Empty if it does not wait, or only waits for its victims to leave its
     * nominated place. The search for remedies has a time limit, because it must not delay other explanations.
     */
    Optional<Outlook> outlook(WorkloadId workload) {
        return outlooks.computeIfAbsent(workload, id -> {
            Engine engine = planned();
            long until = System.nanoTime() + config.remedyTimeLimit().toNanos();
            return engine.outlook(id, snapshot.asOfMillis(), () -> System.nanoTime() - until > 0);
        });
    }

    /** The numbers behind the fair shares of a group, for each scope whose quotas bind its work. */
    List<ShareExplanation> shares(QuotaPath group) {
        return planned().shares(group);
    }

    private Engine planned() {
        Engine engine = planned;
        if (engine == null) {
            long begun = System.nanoTime();
            engine = snapshot.engine();
            for (int i = 0; i < MAX_PLANS; i++) {
                if (engine.plan(snapshot.asOfMillis()).decisions().isEmpty()) {
                    break;
                }
            }
            planned = engine;
            costNanos += System.nanoTime() - begun;
        }
        return engine;
    }

    /** The forecast of the cell without further input. */
    Forecast forecast() {
        Forecast known = forecast;
        if (known == null) {
            long begun = System.nanoTime();
            known = Forecaster.forecast(
                    snapshot.engine(),
                    snapshot.workloads(),
                    new Forecaster.EvictionBehaviours(snapshot::yielding, snapshot.maxGraceMillis()),
                    snapshot.asOfMillis(),
                    bounds(config.horizon(), config.forecastTimeLimit()));
            forecast = known;
            costNanos += System.nanoTime() - begun;
        }
        return known;
    }

    /** The forecast up to a horizon. It reuses the known forecast if that reaches as far. */
    Forecast forecast(Duration horizon, Duration time) {
        Forecast known = forecast;
        return known != null && known.complete() && horizon.equals(config.horizon())
                ? known
                : Forecaster.forecast(
                        snapshot.engine(),
                        snapshot.workloads(),
                        new Forecaster.EvictionBehaviours(snapshot::yielding, snapshot.maxGraceMillis()),
                        snapshot.asOfMillis(),
                        bounds(horizon, time));
    }

    /** @param time the time limit, from now on */
    Forecaster.Bounds bounds(Duration horizon, Duration time) {
        long until = System.nanoTime() + time.toNanos();
        return new Forecaster.Bounds(
                snapshot.asOfMillis() + horizon.toMillis(), config.plansLimit(), () -> System.nanoTime() - until > 0);
    }
}
