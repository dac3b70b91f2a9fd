package io.quartermaster.insight;

import io.quartermaster.dispatch.CellSnapshot;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.Outlook;
import io.quartermaster.engine.WorkloadId;
import io.quartermaster.engine.simulation.Foretold;
import io.quartermaster.engine.simulation.Playout;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A snapshot of the cell with what was worked out from it so far. Of the one thread of {@link LiveCell}. */
final class CellView {

    /** The leader's decisions of one moment come to an end; this is far more than that takes. */
    private static final int MOST_PLANS = 50;

    private final CellSnapshot snapshot;
    private final InsightConfig config;
    private @Nullable Engine planned;
    private @Nullable Foretold forecast;
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

    /** Empty for what does not wait, or waits only for its place to be left. */
    Optional<Outlook> outlook(WorkloadId workload) {
        return planned().outlook(workload, snapshot.asOfMillis());
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
    Foretold forecast() {
        Foretold known = forecast;
        if (known == null) {
            long begun = System.nanoTime();
            known = Playout.play(
                    snapshot.engine(),
                    snapshot.workloads(),
                    snapshot::yielding,
                    snapshot.asOfMillis(),
                    bounds(config.horizon(), config.forecastTimeLimit()));
            forecast = known;
            costNanos += System.nanoTime() - begun;
        }
        return known;
    }

    /** The same, as far as is asked; what is known already is used where it reaches as far. */
    Foretold forecast(Duration horizon, Duration time) {
        Foretold known = forecast;
        return known != null && known.complete() && horizon.equals(config.horizon())
                ? known
                : Playout.play(
                        snapshot.engine(),
                        snapshot.workloads(),
                        snapshot::yielding,
                        snapshot.asOfMillis(),
                        bounds(horizon, time));
    }

    /** @param time from now on */
    Playout.Bounds bounds(Duration horizon, Duration time) {
        long until = System.nanoTime() + time.toNanos();
        return new Playout.Bounds(
                snapshot.asOfMillis() + horizon.toMillis(), config.plansLimit(), () -> System.nanoTime() - until > 0);
    }
}
