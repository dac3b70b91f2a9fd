package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.EngineSteps;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * Shell for benchmarks: it measures the engine, has every plan checked, and carries plans out without fail. Checks and
 * accounting are outside of the measured time. Victims leave when the caller says so.
 */
final class CellShell {
    private final Engine engine;
    private final PlanChecker checker;
    private final Violations violations;
    private final List<WorkloadId> running = new ArrayList<>();
    private final Map<WorkloadId, Integer> placeAmongRunning = new HashMap<>();
    private final Deque<WorkloadId> leaving = new ArrayDeque<>();
    private long applyNanos;
    private long prepareNanos;
    private long planNanos;
    private int plans;
    private int starts;
    private int moves;
    private int evictions;

    CellShell(Settings settings, Violations violations) {
        this.engine = new Engine(settings);
        this.checker = new PlanChecker(settings.minRuntimeMillis());
        this.violations = violations;
    }

    static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    Engine engine() {
        return engine;
    }

    CellModel model() {
        return checker.model();
    }

    long applyNanos() {
        return applyNanos;
    }

    long prepareNanos() {
        return prepareNanos;
    }

    long planNanos() {
        return planNanos;
    }

    long cpuOfAllNanos() {
        return applyNanos + prepareNanos + planNanos;
    }

    int plans() {
        return plans;
    }

    int starts() {
        return starts;
    }

    /** The evictions so far of work that got another place. */
    int moves() {
        return moves;
    }

    /** The evictions so far without those that move work. */
    int evictions() {
        return evictions;
    }

    int waiting() {
        return checker.model().workloads().size() - running.size();
    }

    int running() {
        return running.size();
    }

    WorkloadId anyRunning(Random random) {
        return running.get(random.nextInt(running.size()));
    }

    boolean anyLeaving() {
        return !leaving.isEmpty();
    }

    /** Applies changes and measures that. */
    void apply(List<Change> changes) {
        long from = cpuNanos();
        engine.apply(changes);
        applyNanos += cpuNanos() - from;
        checker.apply(changes);
    }

    /** Builds the scheduling state and measures that. */
    void prepare() {
        long from = cpuNanos();
        EngineSteps.prepare(engine);
        prepareNanos += cpuNanos() - from;
    }

    /** Plans, measures, checks and carries out. */
    Plan plan(long nowMillis, long untilNanos) {
        long from = cpuNanos();
        Plan plan;
        try {
            plan = EngineSteps.plan(engine, nowMillis, untilNanos);
        } catch (EngineSteps.PlanAbandoned abandoned) {
            starts += abandoned.starts();
            throw abandoned;
        } finally {
            planNanos += cpuNanos() - from;
            plans++;
        }
        violations.add(checker.replay(plan));
        plan.decisions().forEach(this::carryOut);
        return plan;
    }

    /** Applies an event and plans; returns the CPU time of both. */
    long event(List<Change> changes, long nowMillis, long untilNanos) {
        long before = cpuOfAllNanos();
        apply(changes);
        plan(nowMillis, untilNanos);
        return cpuOfAllNanos() - before;
    }

    /** The checker's model has the workload's state already; this follows who runs and who leaves. */
    private void carryOut(Decision decision) {
        switch (decision) {
            case Decision.Start start -> {
                starts++;
                placeAmongRunning.put(start.workload(), running.size());
                running.add(start.workload());
            }
            case Decision.Evict evict -> {
                leaving.add(evict.workload());
                if (evict.cause() == EvictionCause.CONSOLIDATE) {
                    moves++;
                } else {
                    evictions++;
                }
            }
            case Decision.Nominate nominate -> {}
            case Decision.WithdrawNomination withdrawn -> {}
            case Decision.Grow grow -> throw new IllegalStateException("no workload is elastic: " + grow);
            case Decision.Shrink shrink -> throw new IllegalStateException("no workload is elastic: " + shrink);
        }
    }

    /** The end of a running workload. */
    Change end(WorkloadId id) {
        runsNoMore(id);
        leaving.remove(id);
        return new Change.WorkloadRemoved(id);
    }

    /** The next victim leaves and waits again. */
    Change nextLeaves(long nowMillis) {
        return waitsAgain(leaving.removeFirst(), nowMillis);
    }

    /** All victims leave and wait again. */
    List<Change> allLeave(long nowMillis) {
        List<Change> changes = new ArrayList<>();
        while (anyLeaving()) {
            changes.add(nextLeaves(nowMillis));
        }
        return changes;
    }

    /** A workload that lost its devices, and waits again. */
    Change waitsAgain(WorkloadId id, long nowMillis) {
        runsNoMore(id);
        leaving.remove(id);
        Workload workload = workload(id).orElseThrow();
        return new Change.WorkloadSet(workload.withState(WorkloadPhase.waitingAgain(nowMillis)));
    }

    private Optional<Workload> workload(WorkloadId id) {
        return checker.model().workload(id);
    }

    private void runsNoMore(WorkloadId id) {
        Integer place = placeAmongRunning.remove(id);
        if (place != null) {
            WorkloadId last = running.removeLast();
            if (!last.equals(id)) {
                running.set(place, last);
                placeAmongRunning.put(last, place);
            }
        }
    }
}
