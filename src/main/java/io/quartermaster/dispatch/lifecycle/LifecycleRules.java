package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Report;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.DesiredState;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import io.quartermaster.workloads.WorkloadState.AfterPreemption;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The rules of the lifecycle: they derive the next step of one workload from its stored state, desired state and
 * reports. Pure functions: one record always gives the same step, so it is harmless to read an inbox row twice.
 */
public final class LifecycleRules {

    /** The outcomes by precedence, for an attempt on several nodes: failures come before requested stops. */
    private static final List<AttemptOutcome> OUTCOME_PRECEDENCE = List.of(
            AttemptOutcome.OUT_OF_MEMORY,
            AttemptOutcome.FAILED,
            AttemptOutcome.TIMED_OUT,
            AttemptOutcome.LOST,
            AttemptOutcome.CANCELLED,
            AttemptOutcome.PAUSED,
            AttemptOutcome.PREEMPTED,
            AttemptOutcome.SUCCEEDED);

    private static final String CANCELLED_ON_REQUEST = "cancelled on request";

    private LifecycleRules() {}

    /** @param lost nodes whose lease has expired: no process runs there any more */
    public static LifecycleStep next(WorkloadRecord workload, Set<UUID> lost) {
        if (workload.isOver()) {
            return new LifecycleStep.NoStep();
        }
        return workload.attempt().isPresent()
                ? attempt(workload, workload.attempt().get(), lost)
                : withoutAttempt(workload);
    }

    /** Whether a step follows for the workload, or for one of its surplus workers, from the stored state alone. */
    public static boolean hasStep(WorkloadRecord workload) {
        return !(next(workload, Set.of()) instanceof LifecycleStep.NoStep)
                || workload.attempt()
                        .filter(core -> core.surplus().workers().stream()
                                .anyMatch(worker -> !(next(core, worker, Set.of()) instanceof SurplusStep.NoStep)))
                        .isPresent();
    }

    private static LifecycleStep withoutAttempt(WorkloadRecord workload) {
        WorkloadState.WithoutAttempt wished =
                switch (workload.desiredState()) {
                    case CANCEL -> new WorkloadState.Cancelled();
                    case HOLD -> new WorkloadState.Held();
                    case RUN ->
                        workload.state() instanceof WorkloadState.Paused && workload.canResume()
                                ? new WorkloadState.Paused()
                                : new WorkloadState.Waiting();
                };
        if (wished.equals(workload.state())) {
            return isAbandoned(workload) ? new LifecycleStep.PauseEnded() : new LifecycleStep.NoStep();
        }
        return new LifecycleStep.ChangeState(
                wished,
                workload.desiredState() == DesiredState.CANCEL ? Optional.of(CANCELLED_ON_REQUEST) : Optional.empty());
    }

    /** Whether none of its paused processes exists any more. */
    public static boolean isAbandoned(WorkloadRecord workload) {
        return workload.paused()
                .filter(work -> work.processes() == PausedWork.Processes.ENDED)
                .isPresent();
    }

    private static LifecycleStep attempt(WorkloadRecord workload, LiveAttempt attempt, Set<UUID> lost) {
        Set<UUID> nodes = attempt.nodes();
        List<Report> ended = attempt.reports().stream().filter(Report::hasEnded).toList();
        Set<UUID> quiet = new TreeSet<>();
        ended.forEach(report -> quiet.add(report.node()));
        nodes.stream().filter(lost::contains).forEach(quiet::add);

        boolean stopping = attempt.state() instanceof WorkloadAttemptState.Stopping;
        if (quiet.containsAll(nodes)
                && (!nodes.isEmpty() || stopping || workload.desiredState() == DesiredState.CANCEL)) {
            return attempt.surplus().workers().isEmpty()
                    ? end(workload, attempt, ended, nodes)
                    : withoutCore(workload, attempt);
        }
        if (stopping) {
            return stopping(workload, attempt);
        }
        if (workload.desiredState() == DesiredState.CANCEL) {
            return new LifecycleStep.AskToStop(AttemptStopReason.CANCELLED);
        }
        // A worker that has finished its part is no loss to the others; a worker that failed or is lost is one.
        if (nodes.stream().anyMatch(lost::contains)
                || ended.stream().anyMatch(r -> r.hasOutcome(AttemptOutcome.LOST))) {
            return new LifecycleStep.AskToStop(AttemptStopReason.LOST);
        }
        if (ended.stream().anyMatch(report -> !report.hasOutcome(AttemptOutcome.SUCCEEDED))) {
            return new LifecycleStep.AskToStop(AttemptStopReason.INCOMPLETE);
        }
        return progress(attempt, nodes.size());
    }

    /** Surplus workers do not continue without the core, and the workload is not over before they are. */
    private static LifecycleStep withoutCore(WorkloadRecord workload, LiveAttempt attempt) {
        if (attempt.isStopping()) {
            return stopping(workload, attempt);
        }
        return new LifecycleStep.AskToStop(
                workload.desiredState() == DesiredState.CANCEL
                        ? AttemptStopReason.CANCELLED
                        : AttemptStopReason.INCOMPLETE);
    }

    /** A request to cancel may shorten the time that the attempt has to stop. */
    private static LifecycleStep stopping(WorkloadRecord workload, LiveAttempt attempt) {
        return endsLater(attempt, workload.stopByMillis())
                ? new LifecycleStep.Shorten(workload.stopByMillis().getAsLong())
                : new LifecycleStep.NoStep();
    }

    private static boolean endsLater(LiveAttempt stopping, OptionalLong byMillis) {
        return byMillis.isPresent() && stopping.deadlineMillis().orElse(Long.MIN_VALUE) > byMillis.getAsLong();
    }

    /** Whether the outcome shows that a surplus worker ended by itself: then no other worker starts in its place. */
    public static boolean isFinal(AttemptOutcome outcome) {
        return outcome != AttemptOutcome.PREEMPTED && outcome != AttemptOutcome.LOST;
    }

    /** The next step of a surplus worker of an attempt. */
    public static SurplusStep next(LiveAttempt core, SurplusWorker worker, Set<UUID> lost) {
        LiveAttempt attempt = worker.attempt();
        Set<UUID> nodes = attempt.nodes();
        List<Report> ended = attempt.reports().stream().filter(Report::hasEnded).toList();
        boolean quiet = nodes.stream()
                .allMatch(node -> lost.contains(node)
                        || ended.stream().anyMatch(report -> report.node().equals(node)));
        if (quiet && (!nodes.isEmpty() || attempt.isStopping() || core.isStopping())) {
            AttemptOutcome outcome = outcome(attempt, ended, nodes);
            Optional<Report> telling =
                    ended.stream().filter(report -> report.hasOutcome(outcome)).findFirst();
            return new SurplusStep.End(
                    outcome,
                    telling.flatMap(Report::exitCode),
                    telling.map(Report::message).orElse(""),
                    isFinal(outcome));
        }
        if (attempt.isStopping()) {
            return core.isStopping() && endsLater(attempt, core.deadlineMillis())
                    ? new SurplusStep.Shorten(core.deadlineMillis().getAsLong())
                    : new SurplusStep.NoStep();
        }
        if (core.isStopping()) {
            return new SurplusStep.AskToStop(core.stopReason().orElse(AttemptStopReason.CANCELLED));
        }
        return progress(attempt, nodes.size()) instanceof LifecycleStep.Progress(WorkloadAttemptState.Wanted state)
                ? new SurplusStep.Progress(state)
                : new SurplusStep.NoStep();
    }

    /** An attempt never goes back to an earlier state: a late report of an earlier state is ignored. */
    private static LifecycleStep progress(LiveAttempt attempt, int nodes) {
        long running = attempt.reports().stream()
                .filter(report -> report.state() instanceof WorkloadAttemptState.Running || report.hasEnded())
                .count();
        boolean runs = nodes > 0 && running == nodes;
        boolean heard = !attempt.reports().isEmpty();
        return switch (attempt.state()) {
            case WorkloadAttemptState.Bound bound when runs -> new LifecycleStep.Progress(bound.run());
            case WorkloadAttemptState.Bound bound when heard -> new LifecycleStep.Progress(bound.start());
            case WorkloadAttemptState.Starting starting when runs -> new LifecycleStep.Progress(starting.run());
            case WorkloadAttemptState.Bound bound -> new LifecycleStep.NoStep();
            case WorkloadAttemptState.Starting starting -> new LifecycleStep.NoStep();
            case WorkloadAttemptState.Running alreadyRunning -> new LifecycleStep.NoStep();
            case WorkloadAttemptState.Stopping stopping -> new LifecycleStep.NoStep();
        };
    }

    private static LifecycleStep end(
            WorkloadRecord workload, LiveAttempt attempt, List<Report> ended, Set<UUID> nodes) {
        AttemptOutcome outcome = outcome(attempt, ended, nodes);
        Optional<Report> telling =
                ended.stream().filter(report -> report.hasOutcome(outcome)).findFirst();
        Optional<Integer> exitCode = telling.flatMap(Report::exitCode);
        String message = telling.map(Report::message)
                .filter(text -> !text.isEmpty())
                .orElse(
                        outcome == AttemptOutcome.LOST
                                ? "the node's lease expired before it was in contact again"
                                : "");
        WorkloadState.WithoutAttempt state = after(workload, attempt, outcome);
        boolean again = !(state instanceof WorkloadState.Over);
        Optional<String> reason = again || state instanceof WorkloadState.Succeeded
                ? Optional.empty()
                : Optional.of(reason(workload, outcome, exitCode));
        return new LifecycleStep.End(outcome, exitCode, message, state, reason, again);
    }

    private static AttemptOutcome outcome(LiveAttempt attempt, List<Report> ended, Set<UUID> nodes) {
        if (nodes.isEmpty()) {
            // In a pool that is a plain count no executor runs the workload, so none has to report its end.
            return attempt.stopReason().orElse(AttemptStopReason.CANCELLED) == AttemptStopReason.PREEMPTED
                    ? AttemptOutcome.PREEMPTED
                    : AttemptOutcome.CANCELLED;
        }
        Set<AttemptOutcome> outcomes = EnumSet.noneOf(AttemptOutcome.class);
        ended.forEach(report -> report.outcome().ifPresent(outcomes::add));
        if (ended.size() < nodes.size()) {
            outcomes.add(AttemptOutcome.LOST);
        }
        return OUTCOME_PRECEDENCE.stream()
                .filter(outcomes::contains)
                .findFirst()
                .orElse(AttemptOutcome.LOST);
    }

    /** A moved workload always continues at its nominated place, whatever its policy says about preempted workloads. */
    private static WorkloadState.WithoutAttempt after(
            WorkloadRecord workload, LiveAttempt attempt, AttemptOutcome outcome) {
        boolean isOver = workload.terms().onPreemption() == PreemptionAction.END
                && workload.nomination().isEmpty();
        return WorkloadState.with(attempt.state())
                .ended(outcome, workload.desiredState(), isOver ? AfterPreemption.END : AfterPreemption.REQUEUE);
    }

    private static String reason(WorkloadRecord workload, AttemptOutcome outcome, Optional<Integer> exitCode) {
        return switch (outcome) {
            case FAILED -> exitCode.map(code -> "exit code " + code).orElse("failed");
            case OUT_OF_MEMORY -> "out of memory";
            case TIMED_OUT -> "ran for its maximum run time";
            case PREEMPTED ->
                workload.desiredState() == DesiredState.CANCEL
                        ? CANCELLED_ON_REQUEST
                        : "stopped for another workload; its policy does not queue preempted workloads again";
            case SUCCEEDED, PAUSED, CANCELLED, LOST -> CANCELLED_ON_REQUEST;
        };
    }
}
