package io.quartermaster.dispatch;

import io.quartermaster.dispatch.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.WorkloadRecord.Report;
import io.quartermaster.governance.OnPreemption;
import io.quartermaster.workloads.Wish;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The rules of the lifecycle: from what is stored, wished and reported to the next step of one workload. Pure: the same record gives the
 * same step, so reading an inbox row twice changes nothing.
 */
final class Transitions {

    /** Of several nodes' outcomes the one that says most about the attempt: what went wrong before what was asked for. */
    private static final List<String> TELLING =
            List.of("out-of-memory", "failed", "timed-out", "lost", "cancelled", "paused", "preempted", "succeeded");

    private Transitions() {}

    /** @param lost nodes whose lease is over: nothing runs there any more */
    static Step next(WorkloadRecord workload, Set<UUID> lost) {
        if (workload.over()) {
            return new Step.Stay();
        }
        return workload.attempt().isPresent()
                ? attempt(workload, workload.attempt().get(), lost)
                : withoutAttempt(workload);
    }

    private static Step withoutAttempt(WorkloadRecord workload) {
        String wished =
                switch (workload.wish()) {
                    case CANCEL -> "cancelled";
                    case HOLD -> "held";
                    case RUN -> "waiting";
                };
        if (wished.equals(workload.state())) {
            return new Step.Stay();
        }
        return new Step.Become(
                wished, workload.wish() == Wish.CANCEL ? Optional.of("cancelled on request") : Optional.empty());
    }

    private static Step attempt(WorkloadRecord workload, LiveAttempt attempt, Set<UUID> lost) {
        Set<UUID> nodes = new TreeSet<>();
        attempt.devices().forEach(device -> device.node().ifPresent(nodes::add));
        List<Report> ended = attempt.reports().stream()
                .filter(r -> r.state().equals("ended"))
                .toList();
        Set<UUID> quiet = new TreeSet<>();
        ended.forEach(report -> quiet.add(report.node()));
        nodes.stream().filter(lost::contains).forEach(quiet::add);

        boolean stopping = attempt.state().equals("stopping");
        if (quiet.containsAll(nodes) && (!nodes.isEmpty() || stopping || workload.wish() == Wish.CANCEL)) {
            return end(workload, attempt, ended, nodes);
        }
        if (stopping) {
            return new Step.Stay();
        }
        if (workload.wish() == Wish.CANCEL) {
            return new Step.AskToStop("cancelled");
        }
        // A worker that has done its part is no loss to the others; one that failed or is lost is.
        boolean gone = nodes.stream().anyMatch(lost::contains) || ended.stream().anyMatch(Transitions::isLost);
        if (gone) {
            return new Step.AskToStop("lost");
        }
        if (ended.stream().anyMatch(report -> !report.outcome().equals(Optional.of("succeeded")))) {
            return new Step.AskToStop("incomplete");
        }
        return progress(attempt, nodes.size());
    }

    private static boolean isLost(Report report) {
        return report.outcome().equals(Optional.of("lost"));
    }

    private static Step progress(LiveAttempt attempt, int nodes) {
        long running = attempt.reports().stream()
                .filter(r -> r.state().equals("running"))
                .count();
        String reached =
                nodes > 0 && running == nodes ? "running" : attempt.reports().isEmpty() ? "bound" : "starting";
        // An attempt never goes back: a late report of an earlier state is old news.
        boolean further = !attempt.state().equals("running")
                && !reached.equals(attempt.state())
                && !(reached.equals("bound") && attempt.state().equals("starting"));
        return further ? new Step.Progress(reached) : new Step.Stay();
    }

    private static Step end(WorkloadRecord workload, LiveAttempt attempt, List<Report> ended, Set<UUID> nodes) {
        String outcome = outcome(attempt, ended, nodes);
        Optional<Report> telling = ended.stream()
                .filter(r -> r.outcome().equals(Optional.of(outcome)))
                .findFirst();
        Optional<Integer> exitCode = telling.flatMap(Report::exitCode);
        String message = telling.map(Report::message)
                .filter(text -> !text.isEmpty())
                .orElse(outcome.equals("lost") ? "the node's lease ended before it was heard again" : "");
        String state = after(workload, outcome);
        boolean again = state.equals("waiting") || state.equals("held");
        Optional<String> reason =
                again || state.equals("succeeded") ? Optional.empty() : Optional.of(reason(outcome, exitCode));
        return new Step.End(outcome, exitCode, message, state, reason, again);
    }

    private static String outcome(LiveAttempt attempt, List<Report> ended, Set<UUID> nodes) {
        if (nodes.isEmpty()) {
            // A plain count: nobody runs it, so nobody has to report its end.
            return attempt.stopReason().orElse("cancelled");
        }
        Set<String> outcomes = new TreeSet<>();
        ended.forEach(report -> outcomes.add(report.outcome().orElse("lost")));
        if (ended.size() < nodes.size()) {
            outcomes.add("lost");
        }
        return TELLING.stream().filter(outcomes::contains).findFirst().orElse("lost");
    }

    private static String after(WorkloadRecord workload, String outcome) {
        return switch (outcome) {
            case "succeeded" -> "succeeded";
            case "failed", "out-of-memory", "timed-out" -> "failed";
            case "cancelled" -> "cancelled";
            case "preempted", "paused" ->
                // No executor can move GPU memory off a device yet, so what would be paused is queued again.
                workload.terms().onPreemption() == OnPreemption.END ? "cancelled" : again(workload);
            case "lost" -> again(workload);
            default -> throw new IllegalStateException("unknown outcome " + outcome);
        };
    }

    private static String again(WorkloadRecord workload) {
        return switch (workload.wish()) {
            case RUN -> "waiting";
            case HOLD -> "held";
            case CANCEL -> "cancelled";
        };
    }

    private static String reason(String outcome, Optional<Integer> exitCode) {
        return switch (outcome) {
            case "failed" -> exitCode.map(code -> "exit code " + code).orElse("failed");
            case "out-of-memory" -> "out of memory";
            case "timed-out" -> "ran for its maximum run time";
            case "preempted" -> "preempted, and its policy ends what is preempted";
            default -> "cancelled on request";
        };
    }
}
