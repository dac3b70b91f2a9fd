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
 * A workload as the tables have it, with the terms of its policy, profile and queue, its live attempt and the reports
 * on that attempt.
 *
 * @param stopByMillis the latest time at which it must have stopped, if the request to cancel sets one
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
        DesiredState desiredState,
        OptionalLong stopByMillis,
        WorkloadState state,
        int attempts,
        OptionalLong atHeadSinceMillis,
        OptionalLong place,
        RetryBackoff retryBackoff,
        Optional<LiveAttempt> attempt,
        Optional<PausedWork> paused,
        Optional<String> nomination) {

    /**
     * The owner of a workload.
     *
     * @param subject of the token it was submitted with; a subject is never assigned to another user
     * @param name the user's name at that time; another user may have the name by now
     */
    public record Submitter(String subject, String name) {}

    /**
     * Processes that a paused attempt left on its node, until an attempt resumes them or they are known to have ended.
     *
     * @param gpuMilli the amount that the attempt held
     * @param untilMillis when they are given up
     * @param mayStay whether the node takes workloads, the tenant may run them, and their time is not over
     */
    public record PausedWork(
            UUID attempt, UUID node, UUID pool, long gpuMilli, long untilMillis, Processes processes, boolean mayStay) {
        /** The state that their node's agent reported last. */
        public enum Processes {
            SUSPENDED,
            ENDING,
            ENDED
        }
    }

    /**
     * The terms of the workload's policy, profile and queue.
     *
     * @param graceMillis at most the grace period that its pool allows
     * @param queueHeld whether the queue is held: no waiting workload in it starts
     * @param overQuota false if the queue does not allow over-quota; the policy's own rule is in its quota
     * @param gpus of one worker
     * @param waitingGpuMilli the amount that one worker counts as while it waits, by pool in their order
     * @param minWorkers the size of the core; the other workers are surplus, which comes and goes
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

        /** The amount that it needs to start, as it counts in one of its pools while it waits; 0 in any other pool. */
        public long startGpuMilli(UUID pool) {
            int place = pools.indexOf(pool);
            return place < 0 ? 0 : waitingGpuMilli.get(place) * minWorkers;
        }

        /** The amount of all its workers, as it counts while it waits, by pool in their order. */
        public List<Long> wholeGpuMilli() {
            return waitingGpuMilli.stream().map(each -> each * workers).toList();
        }
    }

    /**
     * The policy, queue, profile and maximum run time of a workload. While it waits, a request may move it to another
     * queue, or give it another maximum run time.
     */
    public record Binding(UUID policy, UUID queue, UUID profile, OptionalLong maxRuntimeMillis) {}

    public Binding binding() {
        return new Binding(terms.policy(), terms.queue(), terms.profile(), maxRuntimeMillis);
    }

    /**
     * A live attempt, which holds devices now. It is the attempt of the workload itself (all its workers, or the core
     * of an elastic workload), or of one surplus worker.
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

        /** The nodes on which it runs; none in a pool that is a plain count. */
        public SortedSet<UUID> nodes() {
            SortedSet<UUID> nodes = new TreeSet<>();
            devices.forEach(device -> device.node().ifPresent(nodes::add));
            return nodes;
        }

        public boolean isStopping() {
            return state instanceof WorkloadAttemptState.Stopping;
        }

        /** The amount that it and its surplus workers hold. */
        public long heldGpuMilli() {
            return gpuMilli
                    + surplus.workers().stream()
                            .mapToLong(worker -> worker.attempt().gpuMilli())
                            .sum();
        }

        /**
         * The last contact with the first of its nodes that fell silent before it reported the end of the processes
         * there.
         */
        public OptionalLong silentSinceMillis() {
            return reports.stream()
                    .flatMapToLong(report -> report.silentSinceMillis().stream())
                    .min();
        }

        /** Whether the node reported when the processes there ended. */
        public boolean hasReportedEnd(UUID node) {
            return reports.stream()
                    .anyMatch(report -> report.node().equals(node)
                            && report.hasEnded()
                            && report.endedMillis().isPresent());
        }

        /** When its last processes ended. Empty while some still run, or if an executor did not report the time. */
        public OptionalLong workEndedMillis() {
            Set<UUID> nodes = nodes();
            List<Long> ends = reports.stream()
                    .filter(report -> report.hasEnded() && nodes.contains(report.node()))
                    .flatMap(report -> report.endedMillis().stream().boxed())
                    .toList();
            return ends.size() == nodes.size()
                    ? ends.stream().mapToLong(Long::longValue).max()
                    : OptionalLong.empty();
        }

        public LiveAttempt withState(WorkloadAttemptState.Wanted next) {
            return with(next, stopReason, deadlineMillis, surplus);
        }

        public LiveAttempt withStop(AttemptStopReason reason, long untilMillis) {
            return with(
                    new WorkloadAttemptState.Stopping(), Optional.of(reason), OptionalLong.of(untilMillis), surplus);
        }

        /** The stopping attempt with an earlier deadline. */
        public LiveAttempt withDeadline(long untilMillis) {
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
     * The surplus workers of an elastic workload.
     *
     * @param workers the workers that hold devices now, by their number
     * @param done how many workers of this attempt ended by themselves and are not replaced
     * @param hadBefore the numbers of the workers that this attempt had to release, and that it requests again
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

        public Surplus plus(SurplusWorker more) {
            List<SurplusWorker> all = new ArrayList<>(workers);
            all.add(more);
            return new Surplus(all, done, hadBefore);
        }

        public Surplus without(SurplusWorker gone, boolean forGood) {
            List<SurplusWorker> rest = new ArrayList<>(workers);
            rest.removeIf(each -> each.number() == gone.number());
            return new Surplus(rest, done, hadBefore).having(gone.number(), forGood);
        }

        /** The surplus after one of its workers has ended. */
        public Surplus having(int ended, boolean forGood) {
            if (forGood) {
                return new Surplus(workers, done + 1, hadBefore);
            }
            SortedSet<Integer> before = new TreeSet<>(hadBefore);
            before.add(ended);
            return new Surplus(workers, done, before);
        }
    }

    /** A surplus worker; its attempt has no surplus of its own. */
    public record SurplusWorker(int number, LiveAttempt attempt) {}

    /** A part of the allocation; without a node if the pool is a plain count. */
    public record Device(
            int worker, Optional<UUID> node, OptionalLong index, long gpuMilli, Optional<MigInstance> instance) {}

    /**
     * The last report of one node's executor.
     *
     * @param endedMillis when the processes there ended, if the executor reported it
     * @param silentSinceMillis the last contact with a lost node; the leader then wrote the report itself
     */
    public record Report(
            UUID node,
            WorkloadAttemptState state,
            Optional<Integer> exitCode,
            String message,
            OptionalLong endedMillis,
            OptionalLong silentSinceMillis) {

        boolean hasEnded() {
            return state instanceof WorkloadAttemptState.Ended;
        }

        Optional<AttemptOutcome> outcome() {
            return state instanceof WorkloadAttemptState.Ended(AttemptOutcome outcome)
                    ? Optional.of(outcome)
                    : Optional.empty();
        }

        boolean hasOutcome(AttemptOutcome outcome) {
            return outcome().equals(Optional.of(outcome));
        }
    }

    /** Whether it starts before other workloads of its group and priority, because the scheduler had stopped it. */
    public boolean isAtHead() {
        return atHeadSinceMillis.isPresent();
    }

    public boolean isOver() {
        return state instanceof WorkloadState.Over;
    }

    /** Whether it only waits for the time of its next try. */
    public boolean isDelayed(long nowMillis) {
        return state instanceof WorkloadState.Waiting && retryBackoff.isDelayedAt(nowMillis);
    }

    /**
     * Whether its held queue keeps it from starting. An evicted workload with a nominated place starts nevertheless: it
     * was running when the queue was held, or has the place of a workload that was.
     */
    public boolean isHeldInQueue() {
        boolean waits = state instanceof WorkloadState.Waiting || state instanceof WorkloadState.Paused;
        return terms.queueHeld() && waits && !(isAtHead() && nomination.isPresent());
    }

    /** Whether its paused processes must end before it may start. */
    public boolean isLeaving() {
        return paused.isPresent() && !(state instanceof WorkloadState.Paused);
    }

    /**
     * Whether its paused processes can resume: they exist, may stay, are in one of the pools of its profile, and the
     * workload still asks for the amount that they held. For a share by memory and for MIG instances the amounts do not
     * show that.
     */
    boolean canResume() {
        return paused.filter(work -> work.processes() == PausedWork.Processes.SUSPENDED
                        && work.mayStay()
                        && terms.pools().contains(work.pool())
                        && isCountedAlike(terms.gpus())
                        && work.gpuMilli() == terms.wholeGpuMilli().getFirst())
                .isPresent();
    }

    /** Whether the counted amount states the request exactly: whole GPUs, or fractions of one. */
    public static boolean isCountedAlike(GpuRequest gpus) {
        return gpus instanceof GpuRequest.Whole || gpus instanceof GpuRequest.Fraction;
    }

    /** The workload once it holds no devices. */
    public WorkloadRecord without(
            WorkloadState.WithoutAttempt next, OptionalLong nextAtHeadSince, RetryBackoff nextSetbacks) {
        return with(next, nextAtHeadSince, nextSetbacks, Optional.empty(), paused);
    }

    /** The workload with other paused processes, or with none. */
    public WorkloadRecord leaving(Optional<PausedWork> processes) {
        return with(state, atHeadSinceMillis, retryBackoff, attempt, processes);
    }

    /** The workload while its attempt continues. */
    public WorkloadRecord with(LiveAttempt next) {
        return with(WorkloadState.with(next.state()), atHeadSinceMillis, retryBackoff, Optional.of(next), paused);
    }

    /** The workload as one that is never a victim. */
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
                desiredState,
                stopByMillis,
                state,
                attempts,
                atHeadSinceMillis,
                place,
                retryBackoff,
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
                desiredState,
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
