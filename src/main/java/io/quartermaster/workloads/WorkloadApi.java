package io.quartermaster.workloads;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.TimeFormat;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Workloads in the API. */
public final class WorkloadApi {

    /** The most submissions in one batch. */
    public static final int MAX_BATCH = 1_000;

    private static final String REASONS_AT =
            "The moment of the reasons' numbers. The leader updates them when the code of a reason changes, not with "
                    + "every plan.";

    private WorkloadApi() {}

    /** Several submissions: the service stores all of them or none. */
    @Schema(name = "SubmissionBatch")
    public record Batch(
            @Schema(required = true, minItems = 1, maxItems = MAX_BATCH) @Nullable
            List<@Nullable Submission> items) {}

    /** The fields of a clone that differ from its source. */
    @Schema(
            name = "WorkloadOverrides",
            description = "The fields of the clone that differ from those of the workload. An absent field is copied; "
                    + "null returns a field to its default. Variables and labels are merged: null removes one.")
    public record Overrides(
            @Schema(pattern = "^[a-z0-9][a-z0-9-]{0,126}$") @Nullable
            String queue,

            @Schema(minLength = 1, maxLength = Submission.MAX_NAME) @Nullable
            String name,

            @Nullable WorkloadType type,

            @Schema(minItems = 1, maxItems = Submission.MAX_WORDS) @Nullable
            List<@Nullable String> command,

            @Schema(maxProperties = Submission.MAX_VARIABLES) @Nullable
            Map<String, @Nullable String> environment,

            @Schema(minItems = 1, maxItems = Submission.MAX_WORDS) @Nullable
            List<@Nullable String> abortCallback,

            @Schema(minimum = "0", maximum = "1000") @Nullable
            Integer priority,

            @Nullable Boolean preemptible,
            @Nullable Boolean dedicatedOnly,

            @Schema(description = "Whole GPUs per worker, within the range of the queue's profile.") @Nullable
            GpuAmount gpus,

            @Schema(description = "The least number of GPUs with which a worker starts if it cannot have all.")
            @Nullable
            GpuAmount minGpus,

            @Nullable Duration maxRuntime,

            @Schema(maxProperties = Submission.MAX_LABELS) @Nullable
            Map<String, @Nullable String> labels,

            @Nullable Boolean hold) {}

    /** The fields of a waiting workload that can change. */
    @Schema(
            name = "WorkloadPatch",
            description = "An absent field stays unchanged; null returns a field to its default. Labels are merged: "
                    + "null removes one.")
    public record Patch(
            @Schema(
                    description = "The queue to which the workload moves. It keeps its time of submission and loses "
                            + "its place in the order of an admin.",
                    pattern = "^[a-z0-9][a-z0-9-]{0,126}$")
            @Nullable
            String queue,

            @Schema(
                    description = "Its priority, at most that which the policy of its queue allows.",
                    minimum = "0",
                    maximum = "1000")
            @Nullable
            Integer priority,

            @Schema(description = "The workload is stopped after this run time; null: only its profile bounds it.")
            @Nullable
            Duration maxRuntime,

            @Schema(maxProperties = Submission.MAX_LABELS) @Nullable
            Map<String, @Nullable String> labels) {

        static Patch of(View view) {
            return new Patch(view.queue(), view.priority(), view.maxRuntime(), Map.copyOf(view.labels()));
        }
    }

    /** A stored submission. */
    @Schema(name = "Submitted")
    public record Submitted(
            UUID id,
            String name,
            String queue,
            WorkloadType type,
            int priority,
            boolean preemptible,
            @Schema(ref = "WorkloadState") String state) {}

    @Schema(name = "SubmittedBatch")
    public record SubmittedBatch(List<Submitted> items) {}

    /**
     * A workload in a list, with its desired state, which the leader carries out.
     *
     * @param gpus of all workers together; for shares by memory, the amount of its newest attempt, and absent before
     * @param reason the code of the reason why it waits, in its first pool
     */
    @Schema(name = "Workload")
    public record View(
            UUID id,
            String name,
            WorkloadType type,
            String queue,
            String policy,
            String group,
            String profile,
            String submittedBy,

            @Schema(
                    description = "The GPUs of all workers together. For shares by memory, the GPUs of its newest "
                            + "attempt; absent before the first.")
            @Nullable
            GpuAmount gpus,

            @Schema(
                    description =
                            "The GPUs that its workers hold now, together. For an elastic workload less than gpus "
                                    + "while some workers wait. Absent while it holds none.")
            @Nullable
            GpuAmount heldGpus,

            @Schema(
                    description = "The number of GPUs with which a worker starts if it cannot have all. Its attempts "
                            + "show the number that it got.")
            @Nullable
            GpuAmount minGpus,

            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            @Nullable Duration maxRuntime,
            Map<String, String> labels,
            @Schema(ref = "WorkloadState") String state,
            DesiredState wish,

            @Schema(description = "Counts the changes of its queue, priority, maximum run time and labels.")
            long version,

            @Schema(ref = "WaitReasonCode") @Nullable String reason,
            int attempts,
            Instant submittedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable String endReason,

            @Schema(description = "Until when its paused processes wait to resume. Absent unless it is paused.")
            @Nullable
            Instant pausedUntil) {}

    /**
     * A workload with all its details.
     *
     * @param environment visible to its submitter and to members who may manage the workload; it may hold secrets
     */
    @Schema(name = "WorkloadDetails")
    public record Details(
            View workload,
            List<String> command,

            @Schema(
                    description =
                            "The environment. Visible to its submitter and to members of its tenant who may manage "
                                    + "the workload, but to no other caller and no operator.")
            @Nullable
            Map<String, String> environment,

            @Nullable List<String> abortCallback,
            List<Attempt> attempts,

            @Schema(description = "The newest of the surplus workers, beyond minWorkers, of an elastic workload.")
            List<SurplusWorker> surplusWorkers,

            List<Reason> reasons,

            @Schema(description = REASONS_AT) @Nullable Instant reasonsAt,

            @Nullable Nomination nomination,
            List<Preemption> preemptions) {

        Details withoutEnvironment() {
            return new Details(
                    workload,
                    command,
                    null,
                    abortCallback,
                    attempts,
                    surplusWorkers,
                    reasons,
                    reasonsAt,
                    nomination,
                    preemptions);
        }

        /**
         * The details as its tenant may see them: with paths as the tenant writes them, and without other tenants'
         * data, which older versions may have stored.
         */
        Details seenBy(TenantId tenant) {
            return new Details(
                    workload,
                    command,
                    environment,
                    abortCallback,
                    attempts,
                    surplusWorkers,
                    reasons.stream().map(reason -> reason.seenBy(tenant)).toList(),
                    reasonsAt,
                    nomination,
                    preemptions.stream()
                            .map(preemption -> preemption.seenBy(tenant))
                            .toList());
        }
    }

    /** The name of other tenants in receipts that the leader of version 0.1 stored. */
    private static final String ANOTHER_TENANT = "another tenant";

    /**
     * Converts a path of older versions: {@code acme/research} becomes {@code /research}, and {@code acme} becomes
     * {@code /}.
     */
    private static String group(TenantId tenant, String path) {
        if (path.equals(tenant.value())) {
            return "/";
        }
        return path.startsWith(tenant + "/") ? path.substring(tenant.value().length()) : path;
    }

    /**
     * A surplus worker of an elastic workload. It may start and end while the attempt continues.
     *
     * @param attempt number of the attempt that it belongs to
     * @param worker its number among the workers; the core has the numbers from 0
     */
    @Schema(name = "SurplusWorker")
    public record SurplusWorker(
            UUID id,
            int attempt,
            int worker,

            @Schema(ref = "WorkloadAttemptState") String state,

            @Nullable AttemptOutcome outcome,
            String pool,
            GpuAmount gpus,
            Instant boundAt,
            @Nullable Instant startedAt,
            @Nullable Instant stoppingAt,
            @Schema(ref = "StopReason") @Nullable String stopReason,
            @Nullable Instant endedAt,
            @Nullable Integer exitCode,
            @Nullable String message) {}

    @Schema(name = "Attempt")
    public record Attempt(
            UUID id,
            int number,

            @Schema(ref = "WorkloadAttemptState") String state,

            @Nullable AttemptOutcome outcome,
            String pool,
            GpuAmount gpus,
            Instant boundAt,
            @Nullable Instant startedAt,
            @Nullable Instant stoppingAt,
            @Schema(ref = "StopReason") @Nullable String stopReason,

            @Schema(description = "The deadline of its stop. Absent if it is not stopping.") @Nullable
            Instant deadline,

            @Nullable Instant endedAt,
            @Nullable Integer exitCode,
            @Nullable String message) {}

    /**
     * The reason why a workload does not start in one pool.
     *
     * @param path the group whose bound prevents the start, if any; {@code /} for the tenant
     * @param bound the bound; {@code used} is present only with it, because a pool's usage includes that of other
     *     tenants
     * @param free the free amount of the pool
     * @param remedy what must happen before it can start
     */
    @Schema(name = "WaitReason")
    public record Reason(
            String pool,
            @Schema(ref = "WaitReasonCode") String code,

            @Schema(
                    description = "The path of the group whose bound prevents the start; / for the tenant's own bound.",
                    examples = "/rnd")
            @Nullable
            String path,

            @Nullable String requested,
            @Nullable String used,
            @Nullable String bound,
            @Nullable String free,
            String sentence,
            String remedy) {

        /**
         * The reason as the workload's tenant may see it. Without a bound of its own, the used amount includes other
         * tenants'.
         */
        static Reason of(io.quartermaster.engine.model.Reason reason) {
            io.quartermaster.engine.model.Reason.Numbers numbers = reason.numbers();
            boolean bounded = numbers.boundGpuMilli().isPresent();
            return new Reason(
                    reason.pool().value(),
                    reason.code().name(),
                    reason.path().map(QuotaPath::group).orElse(null),
                    GpuFormat.decimal(numbers.requestedGpuMilli()),
                    bounded ? GpuFormat.decimal(numbers.usedGpuMilli()) : null,
                    bounded ? GpuFormat.decimal(numbers.boundGpuMilli().getAsLong()) : null,
                    GpuFormat.decimal(numbers.freeGpuMilli()),
                    reason.sentence(),
                    reason.remedy());
        }

        Reason seenBy(TenantId tenant) {
            return path == null
                    ? this
                    : new Reason(pool, code, group(tenant, path), requested, used, bound, free, sentence, remedy);
        }
    }

    /** A place that is kept for the workload until its victims have left. */
    @Schema(name = "Nomination")
    public record Nomination(String pool, Instant since) {}

    /**
     * A preemption of the workload.
     *
     * @param forWorkload the preemptor, if it belongs to the same tenant
     * @param receipt the numbers behind the preemption
     */
    @Schema(name = "Preemption")
    public record Preemption(
            Instant at,
            int attempt,
            @Schema(ref = "PreemptionCause") String cause,
            @Nullable UUID forWorkload,
            Receipt receipt) {

        Preemption seenBy(TenantId tenant) {
            return new Preemption(at, attempt, cause, forWorkload, receipt.seenBy(tenant));
        }
    }

    /**
     * The rule and the numbers behind a preemption, as the workload's tenant may see them.
     *
     * @param before the branches that were compared, before the plan
     * @param after the same branches, once the victims have stopped and the preemptor runs
     * @param considered the tenant's own workloads that were considered as victims, in that order
     */
    @Schema(name = "PreemptionReceipt")
    public record Receipt(
            @Schema(ref = "PreemptionRight") String right,

            @Schema(description = "The compared branches of the quota tree, before the plan.")
            List<Share> before,

            @Schema(description = "The same branches, once the victims have stopped and the preemptor runs.")
            List<Share> after,

            @Schema(description = "The tenant's own workloads that were considered as victims, in that order.")
            List<Considered> considered) {

        Receipt seenBy(TenantId tenant) {
            return new Receipt(right, seenBy(tenant, before), seenBy(tenant, after), considered);
        }

        private static List<Share> seenBy(TenantId tenant, List<Share> shares) {
            return shares.stream().map(share -> share.seenBy(tenant)).distinct().toList();
        }
    }

    /** One branch of the quota tree in a receipt. A branch of another tenant has no details. */
    @Schema(name = "ReceiptShare")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Share(
            @Schema(
                    description = "The path of the group; / for the tenant itself. Absent for another tenant.",
                    examples = "/rnd")
            @Nullable
            String path,

            @Schema(description = "The name of the pool, or * for all pools together.") @Nullable
            String scope,

            @Nullable String used,
            @Nullable String reserved,
            @Nullable String fairShare,

            @Schema(description = "True for a branch of another tenant, which has no details. Otherwise absent.")
            @Nullable
            Boolean anotherTenant) {

        Share seenBy(TenantId tenant) {
            return path == null || path.equals(ANOTHER_TENANT)
                    ? new Share(null, null, null, null, null, true)
                    : new Share(group(tenant, path), scope, used, reserved, fairShare, null);
        }
    }

    /** A workload of the tenant that was considered as a victim. */
    @Schema(name = "ReceiptCandidate")
    public record Considered(
            UUID workload,

            @Schema(ref = "ConsideredOutcome") String outcome) {}

    /**
     * The explanation of a workload's state.
     *
     * @param sentence the explanation in words
     * @param reasons per pool in the order of its profile, while it waits
     * @param position while it waits
     * @param rule the rule by which its attempt holds devices
     * @param outlook while it waits; absent if it could not be computed in time
     */
    @Schema(name = "Explanation")
    public record Explanation(
            UUID id,
            @Schema(ref = "WorkloadState") String state,
            String sentence,
            List<Reason> reasons,

            @Schema(description = "The moment of the reasons; with an outlook, that of the outlook.") @Nullable
            Instant reasonsAt,

            @Nullable Position position,
            @Nullable Nomination nomination,

            @Schema(description = "The preemption of the newest attempt. Absent if it was not preempted.") @Nullable
            Preemption preemption,

            @Schema(
                    ref = "StartRule",
                    description = "The rule by which its attempt holds its devices. Absent while it holds none, and "
                            + "for a workload without GPUs.")
            @Nullable
            String rule,

            @Schema(
                    description = "The outlook while it waits, at the moment of the reasons. Absent if it could not be"
                            + " computed in time.")
            @Nullable
            Outlook outlook) {}

    /**
     * The outlook of a waiting workload.
     *
     * @param startsAt the forecast start, if running workloads use their whole maximum run time and no others arrive
     */
    @Schema(name = "Outlook")
    public record Outlook(
            @Schema(description = "The moment of the outlook.")
            Instant asOf,

            @Schema(
                    description =
                            "The forecast start, if running workloads use their whole maximum run time and no new "
                                    + "workload arrives. Absent if too few running workloads have a maximum run time.")
            @Nullable
            Instant startsAt,

            @Schema(
                    description = "The workload that starts before it, in a queue with strict order. Absent if this "
                            + "workload is the next one.")
            @Nullable
            Holder behind,

            @Schema(description = "The outlook per pool, in the order of its profile.")
            List<PoolOutlook> pools) {}

    /**
     * The outlook in one pool.
     *
     * @param roomAt when there is room for it at the latest, if running workloads end at their maximum run time. Other
     *     workloads may take that room first
     * @param preemptsFrom the time before which no running workload is stopped for it
     * @param fence the fence that keeps it from reclaiming GPUs
     */
    @Schema(name = "PoolOutlook")
    public record PoolOutlook(
            String pool,
            @Schema(ref = "WaitReasonCode") String code,

            @Schema(
                    description =
                            "The tenant's own workloads that hold the missing GPUs, the largest first; at most ten.")
            List<Holder> holders,

            @Schema(description = "Whether other tenants' workloads hold a part of the pool. They are not named.")
            boolean heldByOthers,

            @Schema(
                    description =
                            "The changes that would start it immediately, or give it a nominated place. All of these "
                                    + "changes are needed together. They were tried on "
                                    + "the state of the explanation, with GPUs that become free together on one of the "
                                    + "pool's nodes; on another node, other changes may be enough. Empty if no changes "
                                    + "of these kinds are enough, or none were found in time.")
            List<Relief> relief,

            @Schema(
                    description = "When there is room for it at the latest, if running workloads end at their maximum "
                            + "run time. Workloads before it may take that room.")
            @Nullable
            Instant roomAt,

            @Schema(
                    description =
                            "The earliest time at which running workloads may be stopped for it, in a pool that delays "
                                    + "preemption. Absent from then on.")
            @Nullable
            Instant preemptsFrom,

            @Schema(
                    description =
                            "The fenced group, or the fenced tenant, that keeps the workload from reclaiming GPUs that"
                                    + " it could reclaim without the fence.")
            @Nullable
            String fence) {

        String whyNothingIsStopped() {
            String until = preemptsFrom == null
                    ? ""
                    : " No running workload in " + pool + " is stopped for it before " + TimeFormat.utc(preemptsFrom)
                            + ".";
            String fenced = fence == null
                    ? ""
                    : " A fence around " + (fence.equals("/") ? "its tenant" : "group " + fence)
                            + " keeps it from reclaiming GPUs from outside in " + pool + ".";
            return until + fenced;
        }
    }

    /** A workload of the tenant that holds the missing GPUs, or comes first. */
    @Schema(name = "Holder")
    public record Holder(UUID id, String name, String queue, String submittedBy) {}

    /**
     * A change of one number. Only all changes of a list together are enough.
     *
     * @param pool where it counts; {@code *} for all pools together; absent for caps
     * @param path the group whose limit, cap or reservation changes; absent if GPUs must become free in the pool
     * @param policy the policy of that group
     */
    @Schema(name = "Relief")
    public record Relief(
            Change change,

            @Schema(
                    description =
                            "The name of the pool in which it counts, or * for all pools together. Absent for caps on "
                                    + "users and on running workloads.")
            @Nullable
            String pool,

            @Schema(
                    description = "The path of the group whose limit, cap or reservation changes; / for the tenant's "
                            + "own. Absent if GPUs must become free in the pool.",
                    examples = "/rnd")
            @Nullable
            String path,

            @Schema(description = "The name of that group's policy. Absent for the tenant, which has an allotment.")
            @Nullable
            String policy,

            @Schema(
                    description = "The change in GPUs. Absent if the change counts workloads, or if it depends on "
                            + "waiting workloads of other tenants, which are not shown.")
            @Nullable
            GpuAmount gpus,

            @Schema(description = "How many more workloads must be allowed to run. Absent if the change counts GPUs.")
            @Nullable
            Long workloads) {

        private static final String ENOUGH = "enough GPUs";
        private static final String DEPENDS = " (how many depends on waiting work of others)";

        /** The change as a clause that begins with a verb. */
        String inWords() {
            String whose = path == null ? "" : path.equals("/") ? "the tenant" : "group " + path;
            String where = pool == null ? "" : pool.equals("*") ? " in all pools together" : " in " + pool;
            long milli = gpus == null ? 0 : gpus.milli();
            String more = GpuFormat.decimal(milli) + " more " + (milli == 1000 ? "GPU" : "GPUs");
            return switch (change) {
                case RAISE_LIMIT -> "raise the limit of " + whose + where + " by " + GpuFormat.gpus(milli);
                case RAISE_USER_LIMIT -> "raise the limit per user of " + whose + " by " + GpuFormat.gpus(milli);
                case RAISE_MAX_RUNNING ->
                    "let " + workloads + " more " + (Long.valueOf(1).equals(workloads) ? "workload" : "workloads")
                            + " of " + whose + " run concurrently";
                case RESERVE_MORE -> "reserve " + more + " for " + whose + where;
                case FREE_IN_POOL -> "free " + (gpus == null ? ENOUGH + where + DEPENDS : more + where);
                case FREE_ON_ONE_NODE ->
                    "free "
                            + (gpus == null
                                    ? ENOUGH + " on one node" + where + DEPENDS
                                    : more + " on one node" + where);
            };
        }

        /** The kind of a change. */
        @Schema(name = "ReliefChange")
        public enum Change {
            RAISE_LIMIT,
            RAISE_USER_LIMIT,
            RAISE_MAX_RUNNING,
            RESERVE_MORE,
            FREE_IN_POOL,
            FREE_ON_ONE_NODE
        }
    }

    /**
     * The position in the scheduling order, which is by priority and then by submission.
     *
     * @param aheadInQueue the workloads before it in its queue
     * @param aheadInGroup the workloads before it in all queues of its policy
     */
    @Schema(name = "QueuePosition")
    public record Position(long aheadInQueue, long aheadInGroup, long waitingInQueue) {}
}
