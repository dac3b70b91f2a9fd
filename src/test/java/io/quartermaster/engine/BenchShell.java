package io.quartermaster.engine;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Shell for benchmarks that carries out an engine's decisions outside the measured time; victims leave immediately. */
final class BenchShell {
    private final Engine engine;
    private final Map<WorkloadId, Workload> workloads = new HashMap<>();
    private final List<WorkloadId> running = new ArrayList<>();
    private final Map<WorkloadId, Integer> placeAmongRunning = new HashMap<>();
    private final List<WorkloadId> leaving = new ArrayList<>();
    private int stopped;

    BenchShell(Engine engine) {
        this.engine = engine;
    }

    /** Submits work to the engine and to this shell, without a plan. */
    void submit(List<Change> changes) {
        engine.apply(changes);
        for (Change change : changes) {
            if (change instanceof Change.WorkloadSet(Workload workload)) {
                workloads.put(workload.id(), workload);
            }
        }
    }

    /** The number of evictions so far, most of them of work that moves. */
    int stopped() {
        return stopped;
    }

    int waiting() {
        return workloads.size() - running.size();
    }

    /** A random running workload. */
    WorkloadId anyRunning(Random random) {
        return running.get(random.nextInt(running.size()));
    }

    /** The next victim to leave. */
    Optional<WorkloadId> nextLeaving() {
        return leaving.isEmpty() ? Optional.empty() : Optional.of(leaving.removeFirst());
    }

    Change.WorkloadRemoved end(WorkloadId id) {
        workloads.remove(id);
        runsNoMore(id);
        leaving.remove(id);
        return new Change.WorkloadRemoved(id);
    }

    /** Lets a victim leave: it waits again. */
    Change.WorkloadSet leave(WorkloadId id, long nowMillis) {
        Workload gone = workload(id).withState(WorkloadPhase.waitingAgain(nowMillis));
        workloads.put(id, gone);
        runsNoMore(id);
        return new Change.WorkloadSet(gone);
    }

    Change.WorkloadSet arrive(Workload workload) {
        workloads.put(workload.id(), workload);
        return new Change.WorkloadSet(workload);
    }

    /** Applies an event, plans and carries out the plan; returns the CPU time of event and plan, in nanoseconds. */
    long plan(List<Change> event, long nowMillis) {
        long from = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        engine.apply(event);
        Plan plan = engine.plan(nowMillis);
        long took = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - from;
        plan.decisions().forEach(decision -> carryOut(decision, nowMillis));
        return took;
    }

    private void carryOut(Decision decision, long nowMillis) {
        Workload workload = workload(decision.workload());
        workloads.put(
                workload.id(),
                switch (decision) {
                    case Decision.Start start -> {
                        placeAmongRunning.put(workload.id(), running.size());
                        running.add(workload.id());
                        yield workload.withState(
                                        WorkloadPhase.running(start.allocation(), nowMillis, start.fromReservation()))
                                .withNomination(Optional.empty());
                    }
                    case Decision.Evict evict -> {
                        stopped++;
                        leaving.add(workload.id());
                        WorkloadPhase.Holding holding = (WorkloadPhase.Holding) workload.state();
                        yield workload.withState(
                                holding.in(new WorkloadPhase.Phase.Stopping(evict.cause(), evict.deadlineMillis())));
                    }
                    case Decision.Nominate nominate -> workload.withNomination(Optional.of(nominate.place()));
                    case Decision.WithdrawNomination withdrawNomination -> workload.withNomination(Optional.empty());
                    case Decision.Grow grow -> throw new IllegalStateException("no workload is elastic: " + grow);
                    case Decision.Shrink shrink -> throw new IllegalStateException("no workload is elastic: " + shrink);
                });
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

    private Workload workload(WorkloadId id) {
        Workload workload = workloads.get(id);
        if (workload == null) {
            throw new IllegalStateException("a decision names an unknown workload: " + id);
        }
        return workload;
    }
}
