package io.quartermaster.engine.simulation;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.ReceiptDerivation;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Simulation of one scenario: it runs an engine in virtual time, as a shell with perfect executors would. */
public final class Simulation {
    private static final int MAX_PLANS_PER_INSTANT = 50;

    private final Scenario scenario;
    private final ReceiptMode receiptMode;
    private final Engine engine;
    private final SimulatedCluster simulatedCluster = new SimulatedCluster();
    private final ExpectationChecker expectationChecker;
    private final SimulatedExecutor simulatedExecutor;
    private final SortedMap<WorkloadId, Scenario.Job> jobs = new TreeMap<>();
    private final List<String> failures = new ArrayList<>();
    private final List<SimulationResult.StateSample> stateSamples = new ArrayList<>();
    private final List<SimulationResult.TimedDecision> decisions = new ArrayList<>();
    private final SortedMap<String, List<SimulationResult.Sample>> usage = new TreeMap<>();
    private final List<SimulationResult.Sample> waiting = new ArrayList<>();
    private final List<SimulationResult.Sample> capacity = new ArrayList<>();
    private OptionalLong nextPlanAt = OptionalLong.empty();

    private Simulation(Scenario scenario, ReceiptMode receiptMode) {
        this.scenario = scenario;
        this.receiptMode = receiptMode;
        this.engine = new Engine(scenario.settings());
        this.expectationChecker = new ExpectationChecker(simulatedCluster, engine);
        this.simulatedExecutor = new SimulatedExecutor(engine, simulatedCluster, new ScenarioBehaviour());
    }

    /**
     * Behaviour of a scenario: work runs as long as the scenario says, keeps the engine's grace, and always waits
     * again.
     */
    private final class ScenarioBehaviour implements SimulatedExecutor.Behaviour {
        @Override
        public OptionalLong runsForMillis(Workload workload) {
            Scenario.Job job = jobs.get(workload.id());
            return job == null ? OptionalLong.empty() : job.durationMillis();
        }

        @Override
        public long graceMillis(Workload workload) {
            return 0;
        }

        @Override
        public boolean waitsAgain(Workload workload, EvictionCause evictionCause) {
            return true;
        }
    }

    /** Whether the simulation derives the receipt of every decision; if so, it makes each plan twice. */
    public enum ReceiptMode {
        NO_RECEIPTS,
        RECEIPTS
    }

    /** Runs a scenario to its last expectation or event. */
    public static SimulationResult run(Scenario scenario) {
        return run(scenario, ReceiptMode.NO_RECEIPTS);
    }

    public static SimulationResult run(Scenario scenario, ReceiptMode receiptMode) {
        return new Simulation(scenario, receiptMode).runToEnd();
    }

    private SimulationResult runToEnd() {
        setUp();
        SortedSet<Long> fixed = new TreeSet<>();
        scenario.timeline().forEach(event -> fixed.add(event.atMillis()));
        scenario.expectations().forEach(expectation -> fixed.add(expectation.atMillis()));
        fixed.add(0L);
        long last = fixed.last();
        long now = 0;
        long played = 0;
        boolean settles = true;
        while (now <= last && settles) {
            played = now;
            applyTimeline(now);
            settles = planUntilSteady(now);
            checkExpectations(now);
            recordSamples(now);
            now = nextMoment(now, fixed).orElse(last + 1);
        }
        return new SimulationResult(
                scenario.name(), failures, decisions, stateSamples, usage, waiting, capacity, played);
    }

    private void setUp() {
        for (Change change : scenario.setup()) {
            if (change instanceof Change.PoolSet(Pool pool)) {
                simulatedCluster.pools.put(pool.id(), pool);
            } else if (change instanceof Change.NodeSet(Node node)) {
                simulatedCluster.nodes.put(node.id(), node);
            }
        }
        engine.apply(scenario.setup());
        scenario.jobs().forEach(this::submit);
    }

    private void submit(Scenario.Job job) {
        Workload workload = job.workload();
        jobs.put(workload.id(), job);
        simulatedExecutor.addWorkload(workload, 0);
        engine.apply(List.of(new Change.WorkloadSet(workload)));
    }

    private OptionalLong nextMoment(long now, SortedSet<Long> fixed) {
        SortedSet<Long> times = new TreeSet<>(fixed.tailSet(now + 1));
        simulatedExecutor.nextEventMillis(now).ifPresent(times::add);
        nextPlanAt.ifPresent(times::add);
        SortedSet<Long> later = times.tailSet(now + 1);
        return later.isEmpty() ? OptionalLong.empty() : OptionalLong.of(later.first());
    }

    /** Applies the due events: work ends, victims leave, then the timeline. */
    private void applyTimeline(long now) {
        simulatedExecutor.applyDueEvents(now);
        for (Scenario.Event event : scenario.timeline()) {
            if (event.atMillis() == now) {
                event.acts().forEach(act -> applyAct(act, now));
            }
        }
    }

    private void applyAct(Scenario.Act act, long now) {
        switch (act) {
            case Scenario.Act.Submit submit -> submit(submit.job());
            case Scenario.Act.End end -> simulatedExecutor.endWorkload(end.workload());
            case Scenario.Act.NodeDown down -> setNodeUp(down.node(), false, now);
            case Scenario.Act.NodeUp up -> setNodeUp(up.node(), true, now);
            case Scenario.Act.SetQuota set -> engine.apply(List.of(new Change.QuotaSet(set.quota())));
            case Scenario.Act.OrderQueue order -> simulatedExecutor.orderQueue(order);
            case Scenario.Act.SetQueue set -> engine.apply(List.of(set.queue()));
            case Scenario.Act.SetBudget set -> engine.apply(List.of(set.budget()));
        }
    }

    private void setNodeUp(NodeId id, boolean up, long now) {
        Node node = simulatedCluster.nodes.get(id);
        if (node == null) {
            throw new IllegalArgumentException("node " + id + " does not exist");
        }
        Node next = up ? node.upAndSchedulable() : node.down();
        simulatedCluster.nodes.put(node.id(), next);
        engine.apply(List.of(new Change.NodeSet(next)));
        for (Workload workload : List.copyOf(simulatedCluster.workloads.values())) {
            if (!up
                    && simulatedCluster
                            .allocation(workload.id())
                            .filter(held -> held.touches(id))
                            .isPresent()) {
                simulatedExecutor.loseNode(
                        workload,
                        id,
                        now,
                        scenario.settings().staleGangGraceMillis().isPresent());
            }
        }
    }

    /** Plans until a plan has no decisions; false if none of the permitted plans is without decisions. */
    private boolean planUntilSteady(long now) {
        int plans = scenario.cycles().orElse(MAX_PLANS_PER_INSTANT);
        for (int i = 0; i < plans; i++) {
            Iterator<DecisionReceipt> receipts = receipts(now);
            Plan plan = simulatedExecutor.plan(now, decision -> recordDecision(decision, now, receipts));
            failures.addAll(ExpectationChecker.failures(plan));
            nextPlanAt = plan.nextPlanAtMillis();
            if (plan.decisions().isEmpty()) {
                return true;
            }
        }
        if (scenario.cycles().isEmpty()) {
            failures.add("at " + GpuFormat.decimal(now) + "s: after " + plans + " plans, decisions still follow");
        }
        return scenario.cycles().isPresent();
    }

    /** The receipts of the next plan, one per decision; none if the simulation derives no receipts. */
    private Iterator<DecisionReceipt> receipts(long now) {
        List<DecisionReceipt> ofPlan =
                switch (receiptMode) {
                    case RECEIPTS -> ReceiptDerivation.of(engine.snapshot(), now);
                    case NO_RECEIPTS -> List.of();
                };
        return ofPlan.iterator();
    }

    private void recordDecision(Decision decision, long now, Iterator<DecisionReceipt> receipts) {
        Optional<DecisionReceipt> receipt = receipts.hasNext() ? Optional.of(receipts.next()) : Optional.empty();
        if (receipt.isPresent() && !receipt.get().decision().equals(decision)) {
            throw new IllegalStateException("the receipt " + receipt.get() + " is not of the decision " + decision);
        }
        decisions.add(new SimulationResult.TimedDecision(now, decision, receipt));
        if (decision instanceof Decision.Evict evict) {
            simulatedCluster.preempted.add(evict.workload());
        }
    }

    /** Records the use of each tenant, the capacity and the number of waiting workloads, where they have changed. */
    private void recordSamples(long now) {
        SortedMap<String, Long> held = new TreeMap<>();
        usage.keySet().forEach(tenant -> held.put(tenant, 0L));
        long waits = 0;
        for (Workload workload : simulatedCluster.workloads.values()) {
            long gpuMilli = simulatedCluster
                    .allocation(workload.id())
                    .map(Allocation::gpuMilli)
                    .orElse(0L);
            held.merge(workload.path().tenant(), gpuMilli, Long::sum);
            waits += simulatedCluster.waits(workload.id()) ? 1000 : 0;
        }
        held.forEach(
                (tenant, gpuMilli) -> append(usage.computeIfAbsent(tenant, name -> new ArrayList<>()), now, gpuMilli));
        append(waiting, now, waits);
        long there = 0;
        for (Pool pool : simulatedCluster.pools.values()) {
            there += simulatedCluster.capacityGpuMilli(pool);
        }
        append(capacity, now, there);
    }

    private static void append(List<SimulationResult.Sample> samples, long now, long value) {
        if (samples.isEmpty() || samples.getLast().value() != value) {
            samples.add(new SimulationResult.Sample(now, value));
        }
    }

    private void checkExpectations(long now) {
        for (Expectation expectation : scenario.expectations()) {
            if (expectation.atMillis() == now) {
                failures.addAll(expectationChecker.failures(expectation));
                stateSamples.add(new SimulationResult.StateSample(
                        now, List.copyOf(simulatedCluster.workloads.values()), engine.waits()));
            }
        }
    }
}
