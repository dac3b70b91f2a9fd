package io.quartermaster.engine.simulation;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Executor in virtual time that behaves like a shell with perfect executors: it carries out the decisions of an engine,
 * and reports the results to the engine.
 */
final class SimulatedExecutor {

    /** Behaviour of work that a shell knows and the engine does not. */
    interface Behaviour {
        /** The duration of each run; empty = until an act or the caller ends the workload. */
        OptionalLong runsForMillis(Workload workload);

        /** How long the workload takes to leave after an eviction, if that is longer than the engine's grace. */
        long graceMillis(Workload workload);

        /** Whether the workload waits again after an eviction; otherwise it has ended. */
        boolean waitsAgain(Workload workload, EvictionCause evictionCause);
    }

    private final Engine engine;
    private final SimulatedCluster simulatedCluster;
    private final Behaviour behaviour;
    private final EventQueue workEnds = new EventQueue();
    private final EventQueue victimReleases = new EventQueue();

    SimulatedExecutor(Engine engine, SimulatedCluster simulatedCluster, Behaviour behaviour) {
        this.engine = engine;
        this.simulatedCluster = simulatedCluster;
        this.behaviour = behaviour;
    }

    /**
     * Adds a workload that the engine knows; it neither ends nor leaves before {@code notBeforeMillis}.
     */
    void addWorkload(Workload workload, long notBeforeMillis) {
        storeWorkload(workload);
        if (workload.state() instanceof WorkloadPhase.Holding holding) {
            scheduleEnd(workload, holding.startedMillis(), notBeforeMillis);
            switch (holding.phase()) {
                case WorkloadPhase.Phase.Running running -> {}
                case WorkloadPhase.Phase.Incomplete incomplete -> {}
                case WorkloadPhase.Phase.Stopping stopping ->
                    victimReleases.put(workload.id(), Math.max(notBeforeMillis, stopping.deadlineMillis()));
                case WorkloadPhase.Phase.Shrinking shrinking ->
                    victimReleases.put(workload.id(), Math.max(notBeforeMillis, shrinking.deadlineMillis()));
            }
        }
    }

    private void scheduleEnd(Workload workload, long startedMillis, long notBeforeMillis) {
        behaviour
                .runsForMillis(workload)
                .ifPresent(millis -> workEnds.put(workload.id(), Math.max(notBeforeMillis, startedMillis + millis)));
    }

    /** Stores a workload and applies it to the engine. */
    void setWorkload(Workload workload) {
        storeWorkload(workload);
        engine.apply(List.of(new Change.WorkloadSet(workload)));
    }

    private void storeWorkload(Workload workload) {
        simulatedCluster.workloads.put(workload.id(), workload);
    }

    /** Ends a workload. */
    void endWorkload(WorkloadId id) {
        workEnds.remove(id);
        victimReleases.remove(id);
        simulatedCluster.workloads.remove(id);
        engine.apply(List.of(new Change.WorkloadRemoved(id)));
    }

    /** Sets the places of all waiting workloads of a queue. */
    void orderQueue(Scenario.Act.OrderQueue order) {
        for (Workload workload : List.copyOf(simulatedCluster.workloads.values())) {
            boolean inQueue = workload.queue().filter(order.queue()::equals).isPresent();
            if (inQueue && workload.state() instanceof WorkloadPhase.Waiting waiting) {
                int place = order.first().indexOf(workload.id());
                setWorkload(workload.withState(waiting.at(place < 0 ? OptionalLong.empty() : OptionalLong.of(place))));
            }
        }
    }

    /**
     * Handles the loss of a node on which a workload ran: the workload waits again.
     *
     * @param replaces whether the workload instead keeps its workers on other nodes until the lost ones are replaced,
     *     unless it is stopping
     */
    void loseNode(Workload workload, NodeId node, long nowMillis, boolean replaces) {
        WorkloadPhase.Holding holding = holding(workload);
        Allocation rest = holding.allocation().without(holding.allocation().numbersOn(node));
        if (replaces && holding.phase().isStaying() && !rest.workers().isEmpty()) {
            boolean complete = workload.shape().isEnough(rest);
            WorkloadPhase.Phase phase = complete || holding.phase() instanceof WorkloadPhase.Phase.Incomplete
                    ? holding.phase()
                    : new WorkloadPhase.Phase.Incomplete(nowMillis);
            setWorkload(workload.withState(holding.without(holding.allocation().numbersOn(node), phase)));
            return;
        }
        workEnds.remove(workload.id());
        victimReleases.remove(workload.id());
        setWorkload(workload.withState(WorkloadPhase.waiting()));
    }

    /** Applies the due events: first work ends, then victims leave. */
    void applyDueEvents(long nowMillis) {
        workEnds.due(nowMillis).forEach(this::endWorkload);
        releaseDueVictims(nowMillis);
    }

    private void releaseDueVictims(long nowMillis) {
        victimReleases.due(nowMillis).forEach(id -> releaseVictim(id, nowMillis));
    }

    /** Lets a victim leave: it waits again, ends, or continues with its remaining workers. */
    private void releaseVictim(WorkloadId id, long nowMillis) {
        victimReleases.remove(id);
        Workload workload = simulatedCluster.workloads.get(id);
        if (workload != null && workload.state() instanceof WorkloadPhase.Holding holding) {
            switch (holding.phase()) {
                case WorkloadPhase.Phase.Running running -> {}
                case WorkloadPhase.Phase.Incomplete incomplete -> {}
                case WorkloadPhase.Phase.Stopping stopping -> {
                    if (behaviour.waitsAgain(workload, stopping.cause())) {
                        workEnds.remove(id);
                        setWorkload(workload.withState(WorkloadPhase.waitingAgain(nowMillis)));
                    } else {
                        endWorkload(id);
                    }
                }
                case WorkloadPhase.Phase.Shrinking shrinking ->
                    setWorkload(workload.withState(
                            holding.without(shrinking.workers(), new WorkloadPhase.Phase.Running())));
            }
        }
    }

    /** Makes one plan and carries it out. */
    Plan plan(long nowMillis, Consumer<Decision> taken) {
        Plan plan = engine.plan(nowMillis);
        plan.decisions().forEach(decision -> {
            taken.accept(decision);
            carryOut(decision, nowMillis);
        });
        releaseDueVictims(nowMillis);
        return plan;
    }

    private void carryOut(Decision decision, long now) {
        Workload workload = simulatedCluster.workloads.get(decision.workload());
        if (workload == null) {
            throw new IllegalStateException("a decision names an unknown workload: " + decision);
        }
        switch (decision) {
            case Decision.Start start -> {
                storeWorkload(
                        workload.withState(WorkloadPhase.running(start.allocation(), now, start.fromReservation()))
                                .withNomination(Optional.empty()));
                scheduleEnd(workload, now, now);
            }
            case Decision.Grow grow -> {
                WorkloadPhase.Holding holding = holding(workload);
                storeWorkload(workload.withState(holding.with(grow.added(), workload.shape()))
                        .withNomination(Optional.empty()));
            }
            case Decision.Evict evict -> {
                victimReleases.put(workload.id(), deadline(workload, evict.deadlineMillis(), now));
                setPhase(workload, new WorkloadPhase.Phase.Stopping(evict.cause(), evict.deadlineMillis()));
            }
            case Decision.Shrink shrink -> {
                victimReleases.put(workload.id(), deadline(workload, shrink.deadlineMillis(), now));
                SortedSet<Integer> leaving = new TreeSet<>(shrink.workers());
                if (holding(workload).phase() instanceof WorkloadPhase.Phase.Shrinking already) {
                    leaving.addAll(already.workers());
                }
                setPhase(workload, new WorkloadPhase.Phase.Shrinking(shrink.cause(), leaving, shrink.deadlineMillis()));
            }
            case Decision.Nominate nominate -> storeWorkload(workload.withNomination(Optional.of(nominate.place())));
            case Decision.WithdrawNomination withdrawNomination ->
                storeWorkload(workload.withNomination(Optional.empty()));
        }
    }

    private long deadline(Workload workload, long ofEngine, long now) {
        return Math.max(ofEngine, now + behaviour.graceMillis(workload));
    }

    private static WorkloadPhase.Holding holding(Workload workload) {
        if (workload.state() instanceof WorkloadPhase.Holding holding) {
            return holding;
        }
        throw new IllegalStateException("a decision needs a running workload, but it does not run: " + workload.id());
    }

    private void setPhase(Workload workload, WorkloadPhase.Phase phase) {
        storeWorkload(workload.withState(holding(workload).in(phase)));
    }

    /** The next moment at which work ends or a victim leaves. */
    OptionalLong nextEventMillis(long nowMillis) {
        OptionalLong end = workEnds.next(nowMillis);
        OptionalLong leave = victimReleases.next(nowMillis);
        if (end.isEmpty() || leave.isEmpty()) {
            return end.isEmpty() ? leave : end;
        }
        return OptionalLong.of(Math.min(end.getAsLong(), leave.getAsLong()));
    }
}
