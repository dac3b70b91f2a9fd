package io.quartermaster.workloads;

import io.quartermaster.engine.Outlook;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.workloads.WorkloadApi.Details;
import io.quartermaster.workloads.WorkloadApi.Explanation;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Puts into words why a workload is where it is. */
final class Explanations {

    private Explanations() {}

    static Explanation waiting(Details details, WorkloadApi.@Nullable Position position) {
        String sentence;
        if (details.workload().wish() == Wish.CANCEL) {
            sentence = "It is being cancelled.";
        } else if (details.reasons().isEmpty()) {
            sentence = "No plan has looked at it yet.";
        } else {
            WorkloadApi.Reason first = details.reasons().getFirst();
            sentence = "It waits: " + first.sentence() + " " + first.remedy();
        }
        return explanation(details, sentence, details.reasons(), position, null);
    }

    static Explanation paused(Details details, WorkloadApi.@Nullable Position position) {
        String sentence =
                "It is paused: its processes stand still and hold no GPU. It waits for its own node, to go on there.";
        if (!details.reasons().isEmpty()) {
            sentence += " " + details.reasons().getFirst().sentence();
        }
        return explanation(details, sentence, details.reasons(), position, null);
    }

    static Explanation withAttempt(Details details, WorkloadState.WithAttempt state, @Nullable String rule) {
        String right = rule == null ? "" : ", " + right(rule);
        String sentence =
                switch (state) {
                    case WorkloadState.Starting starting -> "It holds its devices and is about to start" + right + ".";
                    case WorkloadState.Running running -> "It runs" + right + ".";
                    case WorkloadState.Stopping stopping -> stopping(details);
                };
        return explanation(details, sentence, List.of(), null, rule);
    }

    static Explanation idle(Details details, WorkloadState.WithoutAttempt state) {
        String reason = details.workload().endReason();
        String because = reason == null ? "." : ": " + reason + ".";
        String sentence =
                switch (state) {
                    case WorkloadState.Held held -> "It is held until somebody releases it.";
                    case WorkloadState.Waiting waiting -> "It waits.";
                    case WorkloadState.Paused paused -> "It is paused.";
                    case WorkloadState.Succeeded succeeded -> "It has succeeded.";
                    case WorkloadState.Failed failed -> "It has failed" + because;
                    case WorkloadState.Cancelled cancelled -> "It was cancelled" + because;
                };
        return explanation(details, sentence, List.of(), null, null);
    }

    private static String stopping(Details details) {
        List<WorkloadApi.Preemption> preemptions = details.preemptions();
        WorkloadApi.Attempt last = details.attempts().getLast();
        if (!preemptions.isEmpty() && preemptions.getLast().attempt() == last.number()) {
            String told = "paused".equals(last.stopReason()) ? "It is told to pause: " : "It is told to stop: ";
            return told
                    + switch (preemptions.getLast().cause()) {
                        case "reclaim" -> "another group takes back what it is entitled to.";
                        case "consolidate" -> "it moves, to close a gap.";
                        case "budget" -> "the GPU-hours of its group or tenant for this period are used up.";
                        case "close" -> "its pool has closed.";
                        case "drain" -> "its group or tenant holds more than its limit, and that was to end by now.";
                        default -> "work of higher priority of its group needs its place.";
                    };
        }
        return last.stopReason() == null ? "It is told to stop." : "It is told to stop: " + because(last.stopReason());
    }

    private static String because(String stopReason) {
        return switch (stopReason) {
            case "lost" -> "a node that it ran on was given up.";
            case "incomplete" -> "a part of it is over, and the rest does not go on without.";
            default -> stopReason + ".";
        };
    }

    /** Those whom an outlook names. */
    static List<UUID> holders(Outlooks.Prospect prospect) {
        return prospect.outlook().stream()
                .flatMap(outlook -> Stream.concat(
                        outlook.behind().stream(), outlook.perPool().stream().flatMap(pool -> pool.holders().stream())))
                .map(holder -> UUID.fromString(holder.value()))
                .distinct()
                .toList();
    }

    /** The groups whose policies an outlook would change. */
    static List<String> groups(Outlooks.Prospect prospect) {
        return prospect.outlook().stream()
                .flatMap(outlook -> outlook.perPool().stream())
                .flatMap(pool -> pool.relief().flatMap(Outlook.Relief::path).stream())
                .map(QuotaPath::group)
                .distinct()
                .toList();
    }

    /**
     * @param known those of the holders that the tenant has; others are left out
     * @param policies names of policies by group
     */
    static WorkloadApi.Outlook outlook(
            Outlooks.Prospect prospect, Map<UUID, WorkloadApi.Holder> known, Map<String, String> policies) {
        return new WorkloadApi.Outlook(
                prospect.asOf(),
                prospect.startsAt().orElse(null),
                prospect.outlook()
                        .flatMap(Outlook::behind)
                        .map(first -> known.get(UUID.fromString(first.value())))
                        .orElse(null),
                prospect.outlook().map(Outlook::perPool).orElse(List.of()).stream()
                        .map(pool -> inPool(pool, known, policies))
                        .toList());
    }

    private static WorkloadApi.PoolOutlook inPool(
            Outlook.InPool pool, Map<UUID, WorkloadApi.Holder> known, Map<String, String> policies) {
        return new WorkloadApi.PoolOutlook(
                pool.pool().value(),
                pool.code().name(),
                pool.holders().stream()
                        .map(holder -> known.get(UUID.fromString(holder.value())))
                        .filter(Objects::nonNull)
                        .toList(),
                pool.heldByOthersGpuMilli() > 0,
                pool.relief().map(relief -> relief(relief, policies)).orElse(null),
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
                relief.path().map(QuotaPath::group).orElse(null),
                relief.path().map(QuotaPath::group).map(policies::get).orElse(null),
                relief.workloads() > 0 ? null : new GpuAmount(relief.gpuMilli()),
                relief.workloads() > 0 ? relief.workloads() : null);
    }

    private static String right(String rule) {
        return switch (rule) {
            case "within-reserved" -> "within what is reserved for its group";
            case "over-quota" -> "beyond what is reserved for its group: first to give way";
            case "nominated" -> "on the place that was kept for it";
            case "open" -> "in a pool without quotas";
            default -> rule;
        };
    }

    private static Explanation explanation(
            Details details,
            String sentence,
            List<WorkloadApi.Reason> reasons,
            WorkloadApi.@Nullable Position position,
            @Nullable String rule) {
        return new Explanation(
                details.workload().id(),
                details.workload().state(),
                sentence,
                reasons,
                reasons.isEmpty() ? null : details.reasonsAt(),
                position,
                details.nomination(),
                rule,
                null);
    }
}
