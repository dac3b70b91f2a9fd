package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Report;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.governance.rules.OnPreemption;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.AttemptState;
import io.quartermaster.workloads.Wish;
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
 * The rules of the lifecycle: from what is stored, wished and reported to the next step of one workload. Pure: the same record gives the
 * same step, so reading an inbox row twice changes nothing.
 */
public final class Transitions {

    /** Of several nodes' outcomes the one that says most about the attempt: what went wrong before what was asked for. */
    private static final List<AttemptOutcome> TELLING = List.of(
            AttemptOutcome.OUT_OF_MEMORY,
            AttemptOutcome.FAILED,
            AttemptOutcome.TIMED_OUT,
            AttemptOutcome.LOST,
            AttemptOutcome.CANCELLED,
            AttemptOutcome.PAUSED,
            AttemptOutcome.PREEMPTED,
            AttemptOutcome.SUCCEEDED);

    private static final String ON_REQUEST = "cancelled on request";

    private Transitions() {}

    /** @param lost nodes whose lease is over: nothing runs there any more */
    public static Step next(WorkloadRecord workload, Set<UUID> lost) {
        if (workload.over()) {
            return new Step.Stay();
        }
        return workload.attempt().isPresent()
                ? attempt(workload, workload.attempt().get(), lost)
                : withoutAttempt(workload);
    }

    /** Whether something follows for it, or for one of its surplus workers, from what is stored alone. */
    public static boolean hasStep(WorkloadRecord workload) {
        return !(next(workload, Set.of()) instanceof Step.Stay)
                || workload.attempt()
                        .filter(core -> core.surplus().workers().stream()
                                .anyMatch(worker -> !(next(core, worker, Set.of()) instanceof SurplusStep.Stay)))
                        .isPresent();
    }

    private static Step withoutAttempt(WorkloadRecord workload) {
        WorkloadState.WithoutAttempt wished =
                switch (workload.wish()) {
                    case CANCEL -> new WorkloadState.Cancelled();
                    case HOLD -> new WorkloadState.Held();
                    case RUN ->
                        workload.state() instanceof WorkloadState.Paused && workload.canGoOn()
                                ? new WorkloadState.Paused()
                                : new WorkloadState.Waiting();
                };
        if (wished.equals(workload.state())) {
            return isLeft(workload) ? new Step.Left() : new Step.Stay();
        }
        return new Step.Become(wished, workload.wish() == Wish.CANCEL ? Optional.of(ON_REQUEST) : Optional.empty());
    }

    /** Whether nothing of the processes that it left behind lives any more. */
    public static boolean isLeft(WorkloadRecord workload) {
        return workload.paused()
                .filter(work -> work.processes() == PausedWork.Processes.OVER)
                .isPresent();
    }

    private static Step attempt(WorkloadRecord workload, LiveAttempt attempt, Set<UUID> lost) {
        Set<UUID> nodes = attempt.nodes();
        List<Report> ended = attempt.reports().stream().filter(Report::ended).toList();
        Set<UUID> quiet = new TreeSet<>();
        ended.forEach(report -> quiet.add(report.node()));
        nodes.stream().filter(lost::contains).forEach(quiet::add);

        boolean stopping = attempt.state() instanceof AttemptState.Stopping;
        if (quiet.containsAll(nodes) && (!nodes.isEmpty() || stopping || workload.wish() == Wish.CANCEL)) {
            return attempt.surplus().workers().isEmpty()
                    ? end(workload, attempt, ended, nodes)
                    : withoutCore(workload, attempt);
        }
        if (stopping) {
            return stopping(workload, attempt);
        }
        if (workload.wish() == Wish.CANCEL) {
            return new Step.AskToStop(StopReason.CANCELLED);
        }
        // A worker that has done its part is no loss to the others; one that failed or is lost is.
        if (nodes.stream().anyMatch(lost::contains) || ended.stream().anyMatch(r -> r.was(AttemptOutcome.LOST))) {
            return new Step.AskToStop(StopReason.LOST);
        }
        if (ended.stream().anyMatch(report -> !report.was(AttemptOutcome.SUCCEEDED))) {
            return new Step.AskToStop(StopReason.INCOMPLETE);
        }
        return progress(attempt, nodes.size());
    }

    /** Surplus workers do not go on without those that the workload started with, nor is it over before they are. */
    private static Step withoutCore(WorkloadRecord workload, LiveAttempt attempt) {
        if (attempt.stopping()) {
            return stopping(workload, attempt);
        }
        return new Step.AskToStop(workload.wish() == Wish.CANCEL ? StopReason.CANCELLED : StopReason.INCOMPLETE);
    }

    /** Whoever cancels may leave it less time to stop than it was given. */
    private static Step stopping(WorkloadRecord workload, LiveAttempt attempt) {
        return endsLater(attempt, workload.stopByMillis())
                ? new Step.Shorten(workload.stopByMillis().getAsLong())
                : new Step.Stay();
    }

    private static boolean endsLater(LiveAttempt stopping, OptionalLong byMillis) {
        return byMillis.isPresent() && stopping.deadlineMillis().orElse(Long.MIN_VALUE) > byMillis.getAsLong();
    }

    /** Whether a surplus worker that ended so ended by itself: then none is started in its place. */
    public static boolean isForGood(AttemptOutcome outcome) {
        return outcome != AttemptOutcome.PREEMPTED && outcome != AttemptOutcome.LOST;
    }

    /** Of a surplus worker of an attempt. */
    public static SurplusStep next(LiveAttempt core, SurplusWorker worker, Set<UUID> lost) {
        LiveAttempt attempt = worker.attempt();
        Set<UUID> nodes = attempt.nodes();
        List<Report> ended = attempt.reports().stream().filter(Report::ended).toList();
        boolean quiet = nodes.stream()
                .allMatch(node -> lost.contains(node)
                        || ended.stream().anyMatch(report -> report.node().equals(node)));
        if (quiet && (!nodes.isEmpty() || attempt.stopping() || core.stopping())) {
            AttemptOutcome outcome = outcome(attempt, ended, nodes);
            Optional<Report> telling =
                    ended.stream().filter(report -> report.was(outcome)).findFirst();
            return new SurplusStep.End(
                    outcome,
                    telling.flatMap(Report::exitCode),
                    telling.map(Report::message).orElse(""),
                    isForGood(outcome));
        }
        if (attempt.stopping()) {
            return core.stopping() && endsLater(attempt, core.deadlineMillis())
                    ? new SurplusStep.Shorten(core.deadlineMillis().getAsLong())
                    : new SurplusStep.Stay();
        }
        if (core.stopping()) {
            return new SurplusStep.AskToStop(core.stopReason().orElse(StopReason.CANCELLED));
        }
        return progress(attempt, nodes.size()) instanceof Step.Progress(AttemptState.Wanted state)
                ? new SurplusStep.Progress(state)
                : new SurplusStep.Stay();
    }

    /** An attempt never goes back: a late report of an earlier state is old news. */
    private static Step progress(LiveAttempt attempt, int nodes) {
        long running = attempt.reports().stream()
                .filter(report -> report.state() instanceof AttemptState.Running || report.ended())
                .count();
        boolean runs = nodes > 0 && running == nodes;
        boolean heard = !attempt.reports().isEmpty();
        return switch (attempt.state()) {
            case AttemptState.Bound bound when runs -> new Step.Progress(bound.run());
            case AttemptState.Bound bound when heard -> new Step.Progress(bound.start());
            case AttemptState.Starting starting when runs -> new Step.Progress(starting.run());
            case AttemptState.Bound bound -> new Step.Stay();
            case AttemptState.Starting starting -> new Step.Stay();
            case AttemptState.Running alreadyRunning -> new Step.Stay();
            case AttemptState.Stopping stopping -> new Step.Stay();
        };
    }

    private static Step end(WorkloadRecord workload, LiveAttempt attempt, List<Report> ended, Set<UUID> nodes) {
        AttemptOutcome outcome = outcome(attempt, ended, nodes);
        Optional<Report> telling =
                ended.stream().filter(report -> report.was(outcome)).findFirst();
        Optional<Integer> exitCode = telling.flatMap(Report::exitCode);
        String message = telling.map(Report::message)
                .filter(text -> !text.isEmpty())
                .orElse(outcome == AttemptOutcome.LOST ? "the node's lease ended before it was heard again" : "");
        WorkloadState.WithoutAttempt state = after(workload, attempt, outcome);
        boolean again = !(state instanceof WorkloadState.Over);
        Optional<String> reason = again || state instanceof WorkloadState.Succeeded
                ? Optional.empty()
                : Optional.of(reason(workload, outcome, exitCode));
        return new Step.End(outcome, exitCode, message, state, reason, again);
    }

    private static AttemptOutcome outcome(LiveAttempt attempt, List<Report> ended, Set<UUID> nodes) {
        if (nodes.isEmpty()) {
            // A plain count: nobody runs it, so nobody has to report its end.
            return attempt.stopReason().orElse(StopReason.CANCELLED) == StopReason.PREEMPTED
                    ? AttemptOutcome.PREEMPTED
                    : AttemptOutcome.CANCELLED;
        }
        Set<AttemptOutcome> outcomes = EnumSet.noneOf(AttemptOutcome.class);
        ended.forEach(report -> report.outcome().ifPresent(outcomes::add));
        if (ended.size() < nodes.size()) {
            outcomes.add(AttemptOutcome.LOST);
        }
        return TELLING.stream().filter(outcomes::contains).findFirst().orElse(AttemptOutcome.LOST);
    }

    /** What is moved was stopped to go on where its place is kept, whatever its policy says of work that is stopped for others. */
    private static WorkloadState.WithoutAttempt after(
            WorkloadRecord workload, LiveAttempt attempt, AttemptOutcome outcome) {
        boolean isOver = workload.terms().onPreemption() == OnPreemption.END
                && workload.nomination().isEmpty();
        return WorkloadState.with(attempt.state())
                .ended(outcome, workload.wish(), isOver ? AfterPreemption.END : AfterPreemption.REQUEUE);
    }

    private static String reason(WorkloadRecord workload, AttemptOutcome outcome, Optional<Integer> exitCode) {
        return switch (outcome) {
            case FAILED -> exitCode.map(code -> "exit code " + code).orElse("failed");
            case OUT_OF_MEMORY -> "out of memory";
            case TIMED_OUT -> "ran for its maximum run time";
            case PREEMPTED ->
                workload.wish() == Wish.CANCEL
                        ? ON_REQUEST
                        : "stopped for other work; its policy does not queue such work again";
            case SUCCEEDED, PAUSED, CANCELLED, LOST -> ON_REQUEST;
        };
    }
}
