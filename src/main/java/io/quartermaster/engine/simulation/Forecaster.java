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
    private static final int MAX_PLANS_PER_INSTANT = 50;

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
    public record EvictionBehaviour(long graceMillis, boolean waitsAgain) {}

    /**
     * Behaviour of evicted work.
     *
     * @param ofWorkload the behaviour of each workload; empty for a workload that waits again without a grace
     * @param maxGraceMillis by pool, the maximum grace of work that is evicted there; a pool without an entry has no
     *     maximum
     */
    public record EvictionBehaviours(
            Function<WorkloadId, Optional<EvictionBehaviour>> ofWorkload, Map<PoolId, Long> maxGraceMillis) {}

    private final Engine engine;
    private final SimulatedCluster simulatedCluster = new SimulatedCluster();
    private final SimulatedExecutor simulatedExecutor;
    private final SortedMap<WorkloadId, Forecast.WorkloadForecast> perWorkload = new TreeMap<>();
    private int plans;

    /**
     * @param engine an engine with exactly these workloads; the caller cannot use it afterwards
     */
    private Forecaster(Engine engine, Collection<Workload> workloads, EvictionBehaviours stops, long nowMillis) {
        this.engine = engine;
        this.simulatedExecutor = new SimulatedExecutor(engine, simulatedCluster, new StatedBehaviour(stops));
        // A workload whose deadline has passed leaves a moment later, so that the first plans see the stored state.
        workloads.forEach(workload -> simulatedExecutor.addWorkload(workload, nowMillis + 1));
    }

    private record StatedBehaviour(EvictionBehaviours stops) implements SimulatedExecutor.Behaviour {
        private static final EvictionBehaviour WITHOUT_GRACE = new EvictionBehaviour(0, true);

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

        private EvictionBehaviour of(Workload workload) {
            return stops.ofWorkload().apply(workload.id()).orElse(WITHOUT_GRACE);
        }
    }

    public static Forecast forecast(
            Engine engine, Collection<Workload> workloads, EvictionBehaviours stops, long nowMillis, Bounds bounds) {
        return new Forecaster(engine, workloads, stops, nowMillis).forecast(nowMillis, bounds);
    }

    private Forecast forecast(long nowMillis, Bounds bounds) {
        OptionalLong next = planUntilSteady(nowMillis, bounds);
        Forecast.Held atFirst = held();
        SortedMap<WorkloadId, WaitReasons> waits = new TreeMap<>();
        engine.waits().forEach(waitReasons -> waits.put(waitReasons.workload(), waitReasons));
        long reached = nowMillis;
        while (next.isPresent() && next.getAsLong() <= bounds.untilMillis() && !isEnough(bounds)) {
            reached = next.getAsLong();
            simulatedExecutor.applyDueEvents(reached);
            next = planUntilSteady(reached, bounds);
        }
        boolean complete = next.isEmpty() || next.getAsLong() > bounds.untilMillis();
        return new Forecast(perWorkload, waits, atFirst, held(), complete ? bounds.untilMillis() : reached, complete);
    }

    private boolean isEnough(Bounds bounds) {
        return plans >= bounds.plans() || bounds.enough().getAsBoolean();
    }

    /**
     * Plans until a plan has no decisions, and returns the next moment at which something changes without new input.
     */
    private OptionalLong planUntilSteady(long nowMillis, Bounds bounds) {
        OptionalLong planned = OptionalLong.empty();
        for (int i = 0; i < MAX_PLANS_PER_INSTANT && (i == 0 || !isEnough(bounds)); i++) {
            plans++;
            Plan plan = simulatedExecutor.plan(nowMillis, decision -> recordDecision(decision, nowMillis));
            planned = plan.nextPlanAtMillis();
            if (plan.decisions().isEmpty()) {
                break;
            }
        }
        OptionalLong due = simulatedExecutor.nextEventMillis(nowMillis);
        if (due.isEmpty() || planned.isEmpty()) {
            return due.isEmpty() ? planned : due;
        }
        return OptionalLong.of(Math.min(due.getAsLong(), planned.getAsLong()));
    }

    private void recordDecision(Decision decision, long nowMillis) {
        Forecast.WorkloadForecast before =
                perWorkload.getOrDefault(decision.workload(), Forecast.WorkloadForecast.NONE);
        switch (decision) {
            case Decision.Start start ->
                perWorkload.put(
                        start.workload(),
                        before.with(
                                new Forecast.Start(nowMillis, start.allocation().pool())));
            case Decision.Evict evict ->
                perWorkload.put(evict.workload(), before.with(new Forecast.Stop(nowMillis, evict.cause())));
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
