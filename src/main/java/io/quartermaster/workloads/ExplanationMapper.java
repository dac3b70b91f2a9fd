package io.quartermaster.workloads;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.TimeFormat;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.workloads.WorkloadApi.Details;
import io.quartermaster.workloads.WorkloadApi.Explanation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Explains in words why a workload waits, runs or has ended. */
final class ExplanationMapper {

    private ExplanationMapper() {}

    /** Whether the prospect describes the workload while it waited for a plan. */
    static boolean describesWait(OutlookSource.Prospect prospect) {
        return prospect.status() == OutlookSource.Status.WAITS || prospect.status() == OutlookSource.Status.STARTS;
    }

    /**
     * Explains with the reasons that the leader stored. They are of an earlier moment, so no present numbers are added.
     */
    static Explanation stored(Details details, WorkloadApi.@Nullable Position position) {
        return explanation(
                details,
                sentence(details, position, details.reasons(), "no plan has considered it yet"),
                details.reasons(),
                details.reasonsAt(),
                position,
                null,
                null);
    }

    /** Explains with reasons and an outlook of one moment. */
    static Explanation waiting(
            Details details,
            WorkloadApi.@Nullable Position position,
            OutlookSource.Prospect prospect,
            WorkloadApi.Outlook outlook) {
        List<WorkloadApi.Reason> reasons =
                prospect.reasons().stream().map(WorkloadApi.Reason::of).toList();
        String sentence = sentence(details, position, reasons, "the next plan starts it")
                + (details.workload().wish() == DesiredState.CANCEL ? "" : outlookText(details, outlook));
        return explanation(
                details, sentence, reasons, reasons.isEmpty() ? null : prospect.asOf(), position, null, outlook);
    }

    /** @param without the clause that stands in for a missing reason */
    private static String sentence(
            Details details,
            WorkloadApi.@Nullable Position position,
            List<WorkloadApi.Reason> reasons,
            String without) {
        String name = details.workload().name();
        if (details.workload().wish() == DesiredState.CANCEL) {
            return name + " is being cancelled.";
        }
        boolean paused = "paused".equals(details.workload().state());
        String waits = paused
                ? name + " is paused: its processes stay on its node and hold no GPU, and it waits to resume there."
                : name + " waits" + (reasons.isEmpty() ? "; " + without + "." : ".");
        String why = reasons.isEmpty()
                ? ""
                : " " + reasons.getFirst().sentence() + " " + reasons.getFirst().remedy();
        return preemptionText(details, position) + waits + why;
    }

    /** Adds the outlook: the workload that comes first, the changes that would be enough, and the forecast start. */
    private static String outlookText(Details details, WorkloadApi.Outlook outlook) {
        StringBuilder more = new StringBuilder();
        if (outlook.behind() != null) {
            more.append(" ").append(outlook.behind().name()).append(" comes first in the queue.");
        }
        if (!outlook.pools().isEmpty()) {
            WorkloadApi.PoolOutlook first = outlook.pools().getFirst();
            more.append(first.whyNothingIsStopped());
            if (!first.relief().isEmpty()) {
                more.append(" To let ").append(details.workload().name()).append(" start now: ");
                more.append(
                        first.relief().stream().map(WorkloadApi.Relief::inWords).collect(Collectors.joining(", and ")));
                more.append(".");
            }
        }
        if (outlook.startsAt() != null) {
            more.append(" Forecast: it starts at ")
                    .append(TimeFormat.utc(outlook.startsAt()))
                    .append(" if running work uses all of its maximum run time and no new work comes first.");
        }
        return more.toString();
    }

    /** @param rule the rule by which the newest attempt holds its devices */
    static Explanation withAttempt(Details details, WorkloadState.WithAttempt state, @Nullable String rule) {
        String name = details.workload().name();
        WorkloadApi.Attempt attempt = details.attempts().getLast();
        // The amount includes the surplus workers.
        long held = Math.max(
                attempt.gpus().milli(),
                details.workload().heldGpus() == null
                        ? 0
                        : details.workload().heldGpus().milli());
        boolean hasGpus = held > 0;
        String sentence =
                switch (state) {
                    case WorkloadState.Starting starting ->
                        name + (hasGpus ? " holds " + GpuFormat.gpus(held) + " in " : " has its place in ")
                                + attempt.pool() + " and is about to start." + ruleText(details, hasGpus ? rule : null);
                    case WorkloadState.Running running ->
                        name + " runs in " + attempt.pool()
                                + (hasGpus ? " on " + GpuFormat.gpus(held) + "." : " and uses no GPU.")
                                + ruleText(details, hasGpus ? rule : null);
                    case WorkloadState.Stopping stopping -> stoppingText(details);
                };
        return explanation(details, sentence, List.of(), null, null, hasGpus ? rule : null, null);
    }

    static Explanation withoutAttempt(Details details, WorkloadState.WithoutAttempt state) {
        String name = details.workload().name();
        String reason = details.workload().endReason();
        String because = reason == null ? "." : ": " + reason + ".";
        // The reason may state the cancellation already.
        String ofCancelled =
                reason != null && reason.startsWith("cancelled ") ? " was " + reason + "." : " was cancelled" + because;
        String sentence =
                switch (state) {
                    case WorkloadState.Held held -> name + " is held. Release it to let it start.";
                    case WorkloadState.Waiting waiting -> name + " waits.";
                    case WorkloadState.Paused paused -> name + " is paused.";
                    case WorkloadState.Succeeded succeeded -> name + " has succeeded.";
                    case WorkloadState.Failed failed -> name + " has failed" + because;
                    case WorkloadState.Cancelled cancelled -> name + ofCancelled;
                };
        return explanation(details, sentence, List.of(), null, null, null, null);
    }

    /** Explains a preempted workload that waits again: the time, the rule, and the next step. */
    private static String preemptionText(Details details, WorkloadApi.@Nullable Position position) {
        WorkloadApi.Preemption last = lastPreemption(details);
        WorkloadApi.Attempt attempt =
                details.attempts().isEmpty() ? null : details.attempts().getLast();
        if (last == null
                || attempt == null
                || "paused".equals(details.workload().state())) {
            return last == null
                    ? ""
                    : details.workload().name() + " was paused at " + TimeFormat.utc(last.at()) + ": " + causeText(last)
                            + ". ";
        }
        String again = "consolidate".equals(last.cause())
                ? "It starts again at the place that is kept for it. "
                : "It " + positionText(position) + " and starts again when there is room. ";
        return details.workload().name() + " was stopped at " + TimeFormat.utc(last.at()) + " during attempt "
                + last.attempt() + ": " + causeText(last) + ". " + again;
    }

    /** The place in its queue after the preemption. */
    private static String positionText(WorkloadApi.@Nullable Position position) {
        if (position == null) {
            return "is in its queue again";
        }
        return position.aheadInQueue() == 0
                ? "is first in its queue again"
                : "is in its queue again, behind " + GpuFormat.count(position.aheadInQueue(), "workload") + ",";
    }

    /** The preemption of the newest attempt; null when the newest attempt was not preempted. */
    private static WorkloadApi.@Nullable Preemption lastPreemption(Details details) {
        if (details.preemptions().isEmpty() || details.attempts().isEmpty()) {
            return null;
        }
        WorkloadApi.Preemption last = details.preemptions().getLast();
        return last.attempt() == details.attempts().getLast().number() ? last : null;
    }

    /** The reason why the scheduler stopped or moved it, as a clause. */
    private static String causeText(WorkloadApi.Preemption preemption) {
        return switch (preemption.cause()) {
            case "reclaim" ->
                "another group took back " + rightText(preemption.receipt().right());
            case "consolidate" -> "it is moved to another place to close a gap";
            case "budget" -> "the GPU-hours of its group or tenant for the period were used up";
            case "close" -> "its pool closed";
            case "drain" -> "its group or tenant still held more than its limit at the end of the drain";
            case "incomplete" -> "too few of its workers were left";
            default -> "a workload of its group with a higher priority needed its place";
        };
    }

    private static String rightText(@Nullable String right) {
        return "reserved".equals(right) ? "GPUs that are reserved for it" : "its fair share";
    }

    private static String stoppingText(Details details) {
        String name = details.workload().name();
        WorkloadApi.Preemption preemption = lastPreemption(details);
        WorkloadApi.Attempt last = details.attempts().getLast();
        String until = last.deadline() == null ? "" : " It has until " + TimeFormat.utc(last.deadline()) + " to stop.";
        if (preemption != null) {
            String asked = "paused".equals(last.stopReason()) ? " was asked to pause at " : " was asked to stop at ";
            return name + asked + TimeFormat.utc(preemption.at()) + ": " + causeText(preemption) + "." + until
                    + afterStopText(details);
        }
        return name + " was asked to stop"
                + (last.stopReason() == null ? "." : ": " + stopReasonText(last.stopReason()) + ".")
                + until;
    }

    private static String afterStopText(Details details) {
        return details.workload().wish() == DesiredState.CANCEL ? " It is cancelled when it has stopped." : "";
    }

    private static String stopReasonText(String stopReason) {
        return switch (stopReason) {
            case "lost" -> "a node that it ran on was given up";
            case "incomplete" -> "a part of it is over, and the rest cannot continue alone";
            case "cancelled" -> "it was cancelled on request";
            default -> stopReason;
        };
    }

    /** The workloads that an outlook refers to. */
    static List<UUID> holderIds(OutlookSource.Prospect prospect) {
        return prospect.outlook().stream()
                .flatMap(outlook -> Stream.concat(
                        outlook.behind().stream(), outlook.perPool().stream().flatMap(pool -> pool.holders().stream())))
                .map(holder -> UUID.fromString(holder.value()))
                .distinct()
                .toList();
    }

    /** The groups with policies that an outlook would change. */
    static List<String> groups(OutlookSource.Prospect prospect) {
        return prospect.outlook().stream()
                .flatMap(outlook -> outlook.perPool().stream())
                .flatMap(pool -> pool.relief().stream())
                .flatMap(relief -> relief.path().stream())
                .map(QuotaPath::group)
                .distinct()
                .toList();
    }

    /**
     * @param holders the tenant's own workloads among the holders; others are left out
     * @param policies the names of policies, by group
     */
    static WorkloadApi.Outlook outlook(
            OutlookSource.Prospect prospect, Map<UUID, WorkloadApi.Holder> holders, Map<String, String> policies) {
        return new WorkloadApi.Outlook(
                prospect.asOf(),
                prospect.startsAt().orElse(null),
                prospect.outlook()
                        .flatMap(Outlook::behind)
                        .map(first -> holders.get(UUID.fromString(first.value())))
                        .orElse(null),
                prospect.outlook().map(Outlook::perPool).orElse(List.of()).stream()
                        .map(pool -> poolOutlook(pool, holders, policies))
                        .toList());
    }

    private static WorkloadApi.PoolOutlook poolOutlook(
            Outlook.InPool pool, Map<UUID, WorkloadApi.Holder> holders, Map<String, String> policies) {
        return new WorkloadApi.PoolOutlook(
                pool.pool().value(),
                pool.code().name(),
                pool.holders().stream()
                        .map(holder -> holders.get(UUID.fromString(holder.value())))
                        .filter(Objects::nonNull)
                        .toList(),
                pool.heldByOthersGpuMilli() > 0,
                pool.relief().stream().map(relief -> relief(relief, policies)).toList(),
                pool.startsAtMillis().isPresent()
                        ? Instant.ofEpochMilli(pool.startsAtMillis().getAsLong())
                        : null,
                pool.preemptsFromMillis().isPresent()
                        ? Instant.ofEpochMilli(pool.preemptsFromMillis().getAsLong())
                        : null,
                pool.fence().map(QuotaPath::group).orElse(null));
    }

    private static WorkloadApi.Relief relief(Outlook.Relief relief, Map<String, String> policies) {
        WorkloadApi.Relief.Change change =
                switch (relief.kind()) {
                    case RAISE_LIMIT -> WorkloadApi.Relief.Change.RAISE_LIMIT;
                    case RAISE_USER_LIMIT -> WorkloadApi.Relief.Change.RAISE_USER_LIMIT;
                    case RAISE_MAX_RUNNING -> WorkloadApi.Relief.Change.RAISE_MAX_RUNNING;
                    case RESERVE_MORE -> WorkloadApi.Relief.Change.RESERVE_MORE;
                    case FREE_IN_POOL -> WorkloadApi.Relief.Change.FREE_IN_POOL;
                    case FREE_ON_ONE_NODE -> WorkloadApi.Relief.Change.FREE_ON_ONE_NODE;
                };
        return new WorkloadApi.Relief(
                change,
                relief.scope()
                        .map(scope -> switch (scope) {
                            case Scope.OnePool one -> one.pool().value();
                            case Scope.AllPools all -> "*";
                        })
                        .orElse(null),
                relief.path().map(QuotaPath::group).orElse(null),
                relief.path().map(QuotaPath::group).map(policies::get).orElse(null),
                relief.gpuMilli() > 0 ? new GpuAmount(relief.gpuMilli()) : null,
                relief.workloads() > 0 ? relief.workloads() : null);
    }

    /** The meaning of its rule, as a sentence with a leading blank. */
    private static String ruleText(Details details, @Nullable String rule) {
        boolean preemptible = details.workload().preemptible();
        return switch (rule) {
            case null -> "";
            case "within-reserved" -> " It is within what is reserved for its group.";
            case "over-quota" ->
                " It uses GPUs beyond what is reserved for its group"
                        + (preemptible ? ", and can be stopped when others with a right to them need them." : ".");
            case "nominated" -> " It got the place that was kept for it.";
            case "open" -> " The pool has no quotas.";
            default -> "";
        };
    }

    private static Explanation explanation(
            Details details,
            String sentence,
            List<WorkloadApi.Reason> reasons,
            @Nullable Instant reasonsAt,
            WorkloadApi.@Nullable Position position,
            @Nullable String rule,
            WorkloadApi.@Nullable Outlook outlook) {
        return new Explanation(
                details.workload().id(),
                details.workload().state(),
                sentence,
                reasons,
                reasons.isEmpty() ? null : reasonsAt,
                position,
                details.nomination(),
                lastPreemption(details),
                rule,
                outlook);
    }
}
