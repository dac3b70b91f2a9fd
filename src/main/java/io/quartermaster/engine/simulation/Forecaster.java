package io.quartermaster.engine.simulation;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * Forecaster that simulates a cell from a moment on, in virtual time and without new work. Running work ends exactly
 * when its maximum run time is over; work without one continues. Evicted work leaves when its grace is over.
 */
public final class Forecaster {
    private static final int MOST_PLANS_PER_INSTANT = 50;

    /**
     * Bounds of a forecast.
     *
     * @param untilMillis the last moment of the forecast
     * @param plans the maximum number of plans
     * @param enough evaluated before each plan except the first; true ends the forecast
     */
    public record Bounds(long untilMillis, int plans, BooleanSupplier enough) {}

    /**
     * Behaviour of a workload after its eviction.
     *
     * @param graceMillis how long it keeps its devices, if its pool allows that
     * @param waitsAgain whether it returns to the queue; otherwise it has ended
     */
    public record Yielding(long graceMillis, boolean waitsAgain) {}

    /**
     * Behaviour of evicted work.
     *
     * @param yielding the behaviour of each workload; empty for a workload that waits again without a grace
     * @param maxGraceMillis by pool, the maximum grace of work that is evicted there; a pool without an entry has no
     *     maximum
     */
    public record Stops(Function<WorkloadId, Optional<Yielding>> yielding, Map<PoolId, Long> maxGraceMillis) {}

    private final Engine engine;
    private final SimulatedCluster simulatedCluster = new SimulatedCluster();
    private final SimulatedExecutor shell;
    private final SortedMap<WorkloadId, Forecast.Fate> fates = new TreeMap<>();
    private int plans;

    /**
     * @param engine an engine with exactly these workloads; the caller cannot use it afterwards
     */
    private Forecaster(Engine engine, Collection<Workload> workloads, Stops stops, long nowMillis) {
        this.engine = engine;
        this.shell = new SimulatedExecutor(engine, simulatedCluster, new AsStated(stops));
        // A workload whose deadline has passed leaves a moment later, so that the first plans see the stored state.
        workloads.forEach(workload -> shell.know(workload, nowMillis + 1));
    }

    private record AsStated(Stops stops) implements SimulatedExecutor.Behaviour {
        private static final Yielding AT_ONCE = new Yielding(0, true);

        @Override
        public OptionalLong runsForMillis(Workload workload) {
            return workload.maxRuntimeMillis();
        }

        @Override
        public long graceMillis(Workload workload) {
            long stated = of(workload).graceMillis();
            return workload.state() instanceof WorkloadPhase.Holding holding
                    ? Math.min(
                            stated,
                            stops.maxGraceMillis()
                                    .getOrDefault(holding.allocation().pool(), Long.MAX_VALUE))
                    : stated;
        }

        /**
         * A workload that did not stop because of the scheduler does not return. A workload that moves starts again on
         * its nominated place.
         */
        @Override
        public boolean waitsAgain(Workload workload, EvictionCause evictionCause) {
            return evictionCause != EvictionCause.ASKED
                    && (workload.nomination().isPresent() || of(workload).waitsAgain());
        }

        private Yielding of(Workload workload) {
            return stops.yielding().apply(workload.id()).orElse(AT_ONCE);
        }
    }

    public static Forecast play(
            Engine engine, Collection<Workload> workloads, Stops stops, long nowMillis, Bounds bounds) {
        return new Forecaster(engine, workloads, stops, nowMillis).play(nowMillis, bounds);
    }

    private Forecast play(long nowMillis, Bounds bounds) {
        OptionalLong next = planUntilSteady(nowMillis, bounds);
        Forecast.Held atFirst = held();
        SortedMap<WorkloadId, WaitReasons> waits = new TreeMap<>();
        engine.waits().forEach(waitReasons -> waits.put(waitReasons.workload(), waitReasons));
        long reached = nowMillis;
        while (next.isPresent() && next.getAsLong() <= bounds.untilMillis() && !isEnough(bounds)) {
            reached = next.getAsLong();
            shell.happen(reached);
            next = planUntilSteady(reached, bounds);
        }
        boolean complete = next.isEmpty() || next.getAsLong() > bounds.untilMillis();
        return new Forecast(fates, waits, atFirst, held(), complete ? bounds.untilMillis() : reached, complete);
    }

    private boolean isEnough(Bounds bounds) {
        return plans >= bounds.plans() || bounds.enough().getAsBoolean();
    }

    /**
     * Plans until a plan has no decisions, and returns the next moment at which something changes without new input.
     */
    private OptionalLong planUntilSteady(long nowMillis, Bounds bounds) {
        OptionalLong planned = OptionalLong.empty();
        for (int i = 0; i < MOST_PLANS_PER_INSTANT && (i == 0 || !isEnough(bounds)); i++) {
            plans++;
            Plan plan = shell.plan(nowMillis, decision -> recordFate(decision, nowMillis));
            planned = plan.nextPlanAtMillis();
            if (plan.decisions().isEmpty()) {
                break;
            }
        }
        OptionalLong due = shell.next(nowMillis);
        if (due.isEmpty() || planned.isEmpty()) {
            return due.isEmpty() ? planned : due;
        }
        return OptionalLong.of(Math.min(due.getAsLong(), planned.getAsLong()));
    }

    private void recordFate(Decision decision, long nowMillis) {
        Forecast.Fate before = fates.getOrDefault(decision.workload(), Forecast.Fate.NONE);
        switch (decision) {
            case Decision.Start start ->
                fates.put(
                        start.workload(),
                        before.with(
                                new Forecast.Start(nowMillis, start.allocation().pool())));
            case Decision.Preempt preempt ->
                fates.put(preempt.workload(), before.with(new Forecast.Stop(nowMillis, preempt.cause())));
            case Decision.Grow grow -> {}
            case Decision.Shrink shrink -> {}
            case Decision.Nominate nominate -> {}
            case Decision.WithdrawNomination withdrawNomination -> {}
        }
    }

    private Forecast.Held held() {
        SortedMap<PoolId, SortedMap<String, Long>> held = new TreeMap<>();
        for (Workload workload : simulatedCluster.workloads.values()) {
            Optional<Allocation> allocation = simulatedCluster.allocation(workload.id());
            allocation.ifPresent(all -> held.computeIfAbsent(all.pool(), pool -> new TreeMap<>())
                    .merge(workload.path().tenant(), all.gpuMilli(), Long::sum));
        }
        return new Forecast.Held(held);
    }
}
