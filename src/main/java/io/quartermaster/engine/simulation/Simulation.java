package io.quartermaster.engine.simulation;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.Amounts;
import io.quartermaster.engine.Change;
import io.quartermaster.engine.Decision;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.Node;
import io.quartermaster.engine.NodeId;
import io.quartermaster.engine.Plan;
import io.quartermaster.engine.Pool;
import io.quartermaster.engine.Workload;
import io.quartermaster.engine.WorkloadId;
import io.quartermaster.engine.WorkloadState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Plays one scenario against an engine in virtual time, doing what a shell with perfect executors would do. */
public final class Simulation {
    private static final int MOST_PLANS_PER_INSTANT = 50;

    private final Scenario scenario;
    private final Engine engine;
    private final World world = new World();
    private final Checker checker;
    private final SortedMap<WorkloadId, Scenario.Job> jobs = new TreeMap<>();
    private final SortedMap<WorkloadId, Long> endsAt = new TreeMap<>();
    private final SortedMap<WorkloadId, Long> leavesAt = new TreeMap<>();
    private final List<String> failures = new ArrayList<>();
    private final List<Result.Moment> moments = new ArrayList<>();
    private final List<Result.Taken> taken = new ArrayList<>();
    private final SortedMap<String, List<Result.Sample>> usage = new TreeMap<>();
    private final List<Result.Sample> waiting = new ArrayList<>();
    private OptionalLong nextPlanAt = OptionalLong.empty();

    private Simulation(Scenario scenario) {
        this.scenario = scenario;
        this.engine = new Engine(scenario.settings());
        this.checker = new Checker(world, engine);
    }

    /** Plays it to its last expectation or event. */
    public static Result run(Scenario scenario) {
        return new Simulation(scenario).play();
    }

    private Result play() {
        setUp();
        SortedSet<Long> fixed = new TreeSet<>();
        scenario.timeline().forEach(event -> fixed.add(event.atMillis()));
        scenario.expectations().forEach(expectation -> fixed.add(expectation.atMillis()));
        fixed.add(0L);
        long last = fixed.last();
        long now = 0;
        boolean settles = true;
        while (now <= last && settles) {
            happen(now);
            settles = settle(now);
            check(now);
            sample(now);
            now = next(now, fixed).orElse(last + 1);
        }
        return new Result(scenario.name(), failures, taken, moments, usage, waiting);
    }

    private void setUp() {
        for (Change change : scenario.setup()) {
            if (change instanceof Change.PoolSet(Pool pool)) {
                world.pools.put(pool.id(), pool);
            } else if (change instanceof Change.NodeSet(Node node)) {
                world.nodes.put(node.id(), node);
            }
        }
        engine.apply(scenario.setup());
        scenario.jobs().forEach(this::submit);
    }

    private void submit(Scenario.Job job) {
        Workload workload = job.workload();
        jobs.put(workload.id(), job);
        state(workload);
        if (workload.state() instanceof WorkloadState.Holding holding) {
            noteEnd(workload.id(), holding.startedMillis());
        }
    }

    private void noteEnd(WorkloadId id, long startedMillis) {
        Scenario.Job job = jobs.get(id);
        if (job != null && job.durationMillis().isPresent()) {
            endsAt.put(id, Math.max(0, startedMillis + job.durationMillis().getAsLong()));
        }
    }

    private void write(Workload workload) {
        world.workloads.put(workload.id(), workload);
    }

    /** Writes a workload down and tells the engine. */
    private void state(Workload workload) {
        write(workload);
        engine.apply(List.of(new Change.WorkloadSet(workload)));
    }

    private OptionalLong next(long now, SortedSet<Long> fixed) {
        SortedSet<Long> times = new TreeSet<>(fixed);
        times.addAll(endsAt.values());
        times.addAll(leavesAt.values());
        nextPlanAt.ifPresent(times::add);
        SortedSet<Long> later = times.tailSet(now + 1);
        return later.isEmpty() ? OptionalLong.empty() : OptionalLong.of(later.first());
    }

    /** What is due: work ends, victims leave, then the timeline. */
    private void happen(long now) {
        for (WorkloadId id : due(endsAt, now)) {
            end(id);
        }
        for (WorkloadId id : due(leavesAt, now)) {
            leave(id);
        }
        for (Scenario.Event event : scenario.timeline()) {
            if (event.atMillis() == now) {
                event.acts().forEach(this::act);
            }
        }
    }

    private static List<WorkloadId> due(SortedMap<WorkloadId, Long> times, long now) {
        List<WorkloadId> due = new ArrayList<>();
        times.forEach((id, at) -> {
            if (at <= now) {
                due.add(id);
            }
        });
        return due;
    }

    private void act(Scenario.Act act) {
        switch (act) {
            case Scenario.Act.Submit submit -> submit(submit.job());
            case Scenario.Act.End end -> end(end.workload());
            case Scenario.Act.NodeDown down -> node(down.node(), false);
            case Scenario.Act.NodeUp up -> node(up.node(), true);
            case Scenario.Act.SetQuota set -> engine.apply(List.of(new Change.QuotaSet(set.quota())));
        }
    }

    private void end(WorkloadId id) {
        endsAt.remove(id);
        leavesAt.remove(id);
        world.workloads.remove(id);
        engine.apply(List.of(new Change.WorkloadRemoved(id)));
    }

    /** A victim has left: it waits again, or goes on with the workers it keeps. */
    private void leave(WorkloadId id) {
        leavesAt.remove(id);
        Workload workload = world.workloads.get(id);
        if (workload != null && workload.state() instanceof WorkloadState.Holding holding) {
            state(
                    switch (holding.phase()) {
                        case WorkloadState.Phase.Running running -> workload;
                        case WorkloadState.Phase.Stopping stopping -> {
                            endsAt.remove(id);
                            yield workload.withState(new WorkloadState.Waiting(true));
                        }
                        case WorkloadState.Phase.Shrinking shrinking ->
                            workload.withState(WorkloadState.running(
                                    holding.allocation().without(shrinking.workers()), holding.startedMillis()));
                    });
        }
    }

    private void node(NodeId id, boolean up) {
        Node node = world.nodes.get(id);
        if (node == null) {
            throw new IllegalArgumentException("no node " + id);
        }
        Node next = up ? node.upAndSchedulable() : node.down();
        world.nodes.put(node.id(), next);
        engine.apply(List.of(new Change.NodeSet(next)));
        for (Workload workload : List.copyOf(world.workloads.values())) {
            if (!up
                    && world.allocation(workload.id())
                            .filter(held -> held.touches(id))
                            .isPresent()) {
                endsAt.remove(workload.id());
                leavesAt.remove(workload.id());
                state(workload.withState(WorkloadState.waiting()));
            }
        }
    }

    /** Plans until nothing changes; false if that does not come. */
    private boolean settle(long now) {
        int plans = scenario.cycles().orElse(MOST_PLANS_PER_INSTANT);
        for (int i = 0; i < plans; i++) {
            Plan plan = engine.plan(now);
            nextPlanAt = plan.nextPlanAtMillis();
            plan.decisions().forEach(decision -> carryOut(decision, now));
            due(leavesAt, now).forEach(this::leave);
            if (plan.decisions().isEmpty()) {
                return true;
            }
        }
        if (scenario.cycles().isEmpty()) {
            failures.add("at " + Amounts.decimal(now) + "s: " + plans + " plans and still not settled");
        }
        return scenario.cycles().isPresent();
    }

    private void carryOut(Decision decision, long now) {
        taken.add(new Result.Taken(now, decision));
        Workload workload = world.workloads.get(decision.workload());
        if (workload == null) {
            throw new IllegalStateException("a decision about unknown work: " + decision);
        }
        switch (decision) {
            case Decision.Start start -> {
                write(workload.withState(WorkloadState.running(start.allocation(), now))
                        .withNomination(Optional.empty()));
                noteEnd(workload.id(), now);
            }
            case Decision.Grow grow -> {
                WorkloadState.Holding holding = holding(workload);
                Allocation all = holding.allocation().with(grow.added());
                write(workload.withState(new WorkloadState.Holding(all, holding.startedMillis(), holding.phase()))
                        .withNomination(Optional.empty()));
            }
            case Decision.Preempt preempt -> {
                world.preempted.add(workload.id());
                leavesAt.put(workload.id(), preempt.deadlineMillis());
                phase(workload, new WorkloadState.Phase.Stopping(preempt.cause(), preempt.deadlineMillis()));
            }
            case Decision.Shrink shrink -> {
                leavesAt.put(workload.id(), shrink.deadlineMillis());
                phase(
                        workload,
                        new WorkloadState.Phase.Shrinking(shrink.cause(), shrink.workers(), shrink.deadlineMillis()));
            }
            case Decision.Nominate nominate -> write(workload.withNomination(Optional.of(nominate.place())));
            case Decision.Denominate denominate -> write(workload.withNomination(Optional.empty()));
        }
    }

    private static WorkloadState.Holding holding(Workload workload) {
        if (workload.state() instanceof WorkloadState.Holding holding) {
            return holding;
        }
        throw new IllegalStateException("a decision about running work that does not run: " + workload.id());
    }

    private void phase(Workload workload, WorkloadState.Phase phase) {
        WorkloadState.Holding holding = holding(workload);
        write(workload.withState(new WorkloadState.Holding(holding.allocation(), holding.startedMillis(), phase)));
    }

    /** Notes what every tenant holds and how many wait, where it is not what it was. */
    private void sample(long now) {
        SortedMap<String, Long> held = new TreeMap<>();
        usage.keySet().forEach(tenant -> held.put(tenant, 0L));
        long waits = 0;
        for (Workload workload : world.workloads.values()) {
            long gpuMilli =
                    world.allocation(workload.id()).map(Allocation::gpuMilli).orElse(0L);
            held.merge(workload.path().tenant(), gpuMilli, Long::sum);
            waits += world.waits(workload.id()) ? 1000 : 0;
        }
        held.forEach(
                (tenant, gpuMilli) -> append(usage.computeIfAbsent(tenant, name -> new ArrayList<>()), now, gpuMilli));
        append(waiting, now, waits);
    }

    private static void append(List<Result.Sample> samples, long now, long value) {
        if (samples.isEmpty() || samples.getLast().value() != value) {
            samples.add(new Result.Sample(now, value));
        }
    }

    private void check(long now) {
        for (Expectation expectation : scenario.expectations()) {
            if (expectation.atMillis() == now) {
                failures.addAll(checker.failures(expectation));
                moments.add(new Result.Moment(now, List.copyOf(world.workloads.values()), engine.waits()));
            }
        }
    }
}
