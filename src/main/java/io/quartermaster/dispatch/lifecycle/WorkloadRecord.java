package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.engine.model.Allocation.MigInstance;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.DesiredState;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;

/**
 * A workload as the tables have it, with what its policy, profile and queue say, its live attempt and the reports on it.
 *
 * @param stopByMillis when it is to have stopped at the latest, where whoever cancelled it said so
 */
public record WorkloadRecord(
        TenantId tenant,
        UUID id,
        long sequence,
        Terms terms,
        Submitter submitter,
        int priority,
        boolean preemptible,
        boolean dedicatedOnly,
        OptionalLong maxRuntimeMillis,
        long submittedMillis,
        DesiredState wish,
        OptionalLong stopByMillis,
        WorkloadState state,
        int attempts,
        OptionalLong atHeadSinceMillis,
        OptionalLong place,
        RetryBackoff setbacks,
        Optional<LiveAttempt> attempt,
        Optional<PausedWork> paused,
        Optional<String> nomination) {

    /**
     * Whose it is.
     *
     * @param subject of the token it was submitted with, which is nobody else's ever
     * @param name at that time; somebody else may have it by now
     */
    public record Submitter(String subject, String name) {}

    /**
     * Processes that a paused attempt left on its node, until they are taken over or known to be over.
     *
     * @param gpuMilli what the attempt held
     * @param untilMillis when they are given up
     * @param mayStay whether the node takes work, the tenant may run some, and their time is not over
     */
    public record PausedWork(
            UUID attempt, UUID node, UUID pool, long gpuMilli, long untilMillis, Processes processes, boolean mayStay) {
        /** What their node's agent said of them last. */
        public enum Processes {
            STAND_STILL,
            BEING_ENDED,
            OVER
        }
    }

    /**
     * What policy, profile and queue say.
     *
     * @param graceMillis at most what the pool allows in which it runs
     * @param queueHeld whether nothing that waits in the queue is started
     * @param overQuota false where the queue allows none; what the policy allows is in its quota
     * @param gpus of one worker
     * @param waitingGpuMilli what one worker counts as while it waits, by pool in their order
     * @param minWorkers with how many it starts; the others are surplus, which comes and goes
     */
    public record Terms(
            UUID policy,
            String group,
            PreemptionAction onPreemption,
            long graceMillis,
            UUID queue,
            boolean queueHeld,
            boolean overQuota,
            UUID profile,
            String profileName,
            String queueName,
            GpuRequest gpus,
            List<Long> waitingGpuMilli,
            int workers,
            int minWorkers,
            long cpuMilli,
            long memoryMiB,
            Map<String, String> labels,
            Profile.Topology topology,
            List<UUID> pools,
            boolean movesBack) {

        public Binding binding() {
            return new Binding(policy, queue, profile);
        }

        /** What it must get to start, as it counts in one of its pools while it waits; nothing in any other. */
        public long startGpuMilli(UUID pool) {
            int place = pools.indexOf(pool);
            return place < 0 ? 0 : waitingGpuMilli.get(place) * minWorkers;
        }

        /** What it asks for with all its workers, as it counts while it waits, by pool in their order. */
        public List<Long> wholeGpuMilli() {
            return waitingGpuMilli.stream().map(each -> each * workers).toList();
        }
    }

    /** By what it waits. It may be moved to another queue while it does. */
    public record Binding(UUID policy, UUID queue, UUID profile) {}

    /**
     * An attempt that holds devices now: of the workload as such, which is all its workers or, where it is elastic, those it started with;
     * or of one surplus worker.
     *
     * @param fromReservation whether it started from a backfill reservation
     */
    public record LiveAttempt(
            UUID id,
            int number,
            WorkloadAttemptState.Live state,
            UUID pool,
            long gpuMilli,
            long boundMillis,
            boolean fromReservation,
            OptionalLong startedMillis,
            Optional<AttemptStopReason> stopReason,
            OptionalLong deadlineMillis,
            List<Device> devices,
            List<Report> reports,
            Surplus surplus) {

        /** Where it runs; none in a pool that is a plain count. */
        public SortedSet<UUID> nodes() {
            SortedSet<UUID> nodes = new TreeSet<>();
            devices.forEach(device -> device.node().ifPresent(nodes::add));
            return nodes;
        }

        public boolean stopping() {
            return state instanceof WorkloadAttemptState.Stopping;
        }

        /** What it and its surplus workers hold. */
        public long heldGpuMilli() {
            return gpuMilli
                    + surplus.workers().stream()
                            .mapToLong(worker -> worker.attempt().gpuMilli())
                            .sum();
        }

        /** Since when nothing is known of its work, where a node fell silent before it said that the work there is over. */
        public OptionalLong silentSinceMillis() {
            return reports.stream()
                    .flatMapToLong(report -> report.silentSinceMillis().stream())
                    .min();
        }

        /** Whether it is known when its work ended there. */
        public boolean hasToldItsEnd(UUID node) {
            return reports.stream()
                    .anyMatch(report -> report.node().equals(node)
                            && report.ended()
                            && report.endedMillis().isPresent());
        }

        /** When the last of its work ended; empty while some goes on, and where an executor did not tell when. */
        public OptionalLong workEndedMillis() {
            Set<UUID> nodes = nodes();
            List<Long> ends = reports.stream()
                    .filter(report -> report.ended() && nodes.contains(report.node()))
                    .flatMap(report -> report.endedMillis().stream().boxed())
                    .toList();
            return ends.size() == nodes.size()
                    ? ends.stream().mapToLong(Long::longValue).max()
                    : OptionalLong.empty();
        }

        public LiveAttempt as(WorkloadAttemptState.Wanted next) {
            return with(next, stopReason, deadlineMillis, surplus);
        }

        public LiveAttempt told(AttemptStopReason reason, long untilMillis) {
            return with(
                    new WorkloadAttemptState.Stopping(), Optional.of(reason), OptionalLong.of(untilMillis), surplus);
        }

        /** The same attempt, which is stopping, with less time left. */
        public LiveAttempt dueBy(long untilMillis) {
            return with(state, stopReason, OptionalLong.of(untilMillis), surplus);
        }

        public LiveAttempt with(Surplus next) {
            return with(state, stopReason, deadlineMillis, next);
        }

        private LiveAttempt with(
                WorkloadAttemptState.Live next,
                Optional<AttemptStopReason> reason,
                OptionalLong deadline,
                Surplus workers) {
            return new LiveAttempt(
                    id,
                    number,
                    next,
                    pool,
                    gpuMilli,
                    boundMillis,
                    fromReservation,
                    startedMillis,
                    reason,
                    deadline,
                    devices,
                    reports,
                    workers);
        }
    }

    /**
     * The workers beyond those an elastic workload started with.
     *
     * @param workers that hold devices now, by their number
     * @param done how many of this attempt are over by themselves and do not come again
     * @param hadBefore the numbers of those that this attempt had to let go, and that come again
     */
    public record Surplus(List<SurplusWorker> workers, int done, SortedSet<Integer> hadBefore) {

        public static final Surplus NONE = new Surplus(List.of(), 0, Collections.emptySortedSet());

        public Surplus {
            workers = List.copyOf(workers);
        }

        public Surplus with(SurplusWorker changed) {
            List<SurplusWorker> all = new ArrayList<>(workers);
            all.replaceAll(each -> each.number() == changed.number() ? changed : each);
            return new Surplus(all, done, hadBefore);
        }

        public Surplus and(SurplusWorker more) {
            List<SurplusWorker> all = new ArrayList<>(workers);
            all.add(more);
            return new Surplus(all, done, hadBefore);
        }

        public Surplus without(SurplusWorker gone, boolean forGood) {
            List<SurplusWorker> rest = new ArrayList<>(workers);
            rest.removeIf(each -> each.number() == gone.number());
            return new Surplus(rest, done, hadBefore).having(gone.number(), forGood);
        }

        /** What is known of one that has ended. */
        public Surplus having(int ended, boolean forGood) {
            if (forGood) {
                return new Surplus(workers, done + 1, hadBefore);
            }
            SortedSet<Integer> before = new TreeSet<>(hadBefore);
            before.add(ended);
            return new Surplus(workers, done, before);
        }
    }

    /** One of them; its attempt has no surplus of its own. */
    public record SurplusWorker(int number, LiveAttempt attempt) {}

    /** A part of the allocation; no node where the pool is a plain count. */
    public record Device(
            int worker, Optional<UUID> node, OptionalLong index, long gpuMilli, Optional<MigInstance> instance) {}

    /**
     * What the executor of one node said last.
     *
     * @param endedMillis when the work ended there, where the executor told
     * @param silentSinceMillis when a lost node was last heard; the report is then the leader's own
     */
    public record Report(
            UUID node,
            WorkloadAttemptState state,
            Optional<Integer> exitCode,
            String message,
            OptionalLong endedMillis,
            OptionalLong silentSinceMillis) {

        boolean ended() {
            return state instanceof WorkloadAttemptState.Ended;
        }

        Optional<AttemptOutcome> outcome() {
            return state instanceof WorkloadAttemptState.Ended(AttemptOutcome outcome)
                    ? Optional.of(outcome)
                    : Optional.empty();
        }

        boolean was(AttemptOutcome outcome) {
            return outcome().equals(Optional.of(outcome));
        }
    }

    /** Whether it goes before others of its group and priority, since it was stopped against its will. */
    public boolean atHead() {
        return atHeadSinceMillis.isPresent();
    }

    public boolean over() {
        return state instanceof WorkloadState.Over;
    }

    /** Whether it waits for nothing but the moment at which it is tried again. */
    public boolean isDelayed(long nowMillis) {
        return state instanceof WorkloadState.Waiting && setbacks.delays(nowMillis);
    }

    /**
     * Whether its queue keeps it from being started. Whoever was stopped against its will and has its next place already runs on there:
     * it was running when the queue was held, or has the place of one that was.
     */
    public boolean isHeldInQueue() {
        boolean waits = state instanceof WorkloadState.Waiting || state instanceof WorkloadState.Paused;
        return terms.queueHeld() && waits && !(atHead() && nomination.isPresent());
    }

    /** Whether its paused processes are to end, and it must not start before they have. */
    public boolean isLeaving() {
        return paused.isPresent() && !(state instanceof WorkloadState.Paused);
    }

    /**
     * Whether its paused processes can go on: they are there, may stay, and it still asks for as much as they held, which is not to be told of
     * memory and of MIG instances.
     */
    boolean canGoOn() {
        return paused.filter(work -> work.processes() == PausedWork.Processes.STAND_STILL
                        && work.mayStay()
                        && isCountedAlike(terms.gpus())
                        && work.gpuMilli() == terms.wholeGpuMilli().getFirst())
                .isPresent();
    }

    /** Whether what a request counts as says what it asks for: whole GPUs, or parts of them. */
    public static boolean isCountedAlike(GpuRequest gpus) {
        return gpus instanceof GpuRequest.Whole || gpus instanceof GpuRequest.Fraction;
    }

    /** The same workload once it holds nothing any more. */
    public WorkloadRecord without(
            WorkloadState.WithoutAttempt next, OptionalLong nextAtHeadSince, RetryBackoff nextSetbacks) {
        return with(next, nextAtHeadSince, nextSetbacks, Optional.empty(), paused);
    }

    /** The same workload with other paused processes, or without. */
    public WorkloadRecord leaving(Optional<PausedWork> processes) {
        return with(state, atHeadSinceMillis, setbacks, attempt, processes);
    }

    /** The same workload while its attempt goes on. */
    public WorkloadRecord with(LiveAttempt next) {
        return with(WorkloadState.with(next.state()), atHeadSinceMillis, setbacks, Optional.of(next), paused);
    }

    /** The same workload, never a victim. */
    public WorkloadRecord asNonPreemptible() {
        return new WorkloadRecord(
                tenant,
                id,
                sequence,
                terms,
                submitter,
                priority,
                false,
                dedicatedOnly,
                maxRuntimeMillis,
                submittedMillis,
                wish,
                stopByMillis,
                state,
                attempts,
                atHeadSinceMillis,
                place,
                setbacks,
                attempt,
                paused,
                nomination);
    }

    private WorkloadRecord with(
            WorkloadState nextState,
            OptionalLong nextAtHeadSince,
            RetryBackoff nextSetbacks,
            Optional<LiveAttempt> next,
            Optional<PausedWork> nextPaused) {
        return new WorkloadRecord(
                tenant,
                id,
                sequence,
                terms,
                submitter,
                priority,
                preemptible,
                dedicatedOnly,
                maxRuntimeMillis,
                submittedMillis,
                wish,
                stopByMillis,
                nextState,
                attempts,
                nextAtHeadSince,
                next.isPresent() ? OptionalLong.empty() : place,
                nextSetbacks,
                next,
                nextPaused,
                nomination);
    }
}
