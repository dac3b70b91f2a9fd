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

/** What the API says of workloads. */
public final class WorkloadApi {

    /** Submissions in one batch. */
    public static final int MAX_BATCH = 1_000;

    private static final String REASONS_AT =
            "as of when the reasons' numbers are: they are updated when the kind of a reason changes, not with every plan";

    private WorkloadApi() {}

    /** Several submissions: all come in, or none. */
    @Schema(name = "SubmissionBatch")
    public record Batch(
            @Schema(required = true, minItems = 1, maxItems = MAX_BATCH) @Nullable
            List<@Nullable Submission> items) {}

    /** What came in. */
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
     * A workload in a list.
     *
     * @param gpus of all workers together; of shares by memory what its newest attempt held, and absent before
     * @param wish what was asked for last: the leader makes it so
     * @param reason why it waits: the code of its first pool
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
                    description =
                            "of all workers together; of shares by memory what its newest attempt holds or held, and absent before")
            @Nullable
            GpuAmount gpus,

            @Schema(
                    description =
                            "what its workers hold now, together; of an elastic workload less than gpus while some workers wait; absent while it holds nothing")
            @Nullable
            GpuAmount heldGpus,

            @Schema(
                    description =
                            "with how many GPUs of each worker it starts where it cannot have all; what it got its attempts say")
            @Nullable
            GpuAmount minGpus,

            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            @Nullable Duration maxRuntime,
            Map<String, String> labels,
            @Schema(ref = "WorkloadState") String state,
            DesiredState wish,
            @Schema(ref = "WaitReasonCode") @Nullable String reason,
            int attempts,
            Instant submittedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable String endReason,

            @Schema(description = "of one that is paused: until when its processes wait to go on") @Nullable
            Instant pausedUntil) {}

    /**
     * A workload with all there is to say of it.
     *
     * @param environment shown to its submitter and to those of its tenant who may manage it; it may hold secrets
     */
    @Schema(name = "WorkloadDetails")
    public record Details(
            View workload,
            List<String> command,

            @Schema(
                    description =
                            "shown to its submitter and to those of its tenant who may manage it, not to others and not to the operator")
            @Nullable
            Map<String, String> environment,

            @Nullable List<String> abortCallback,
            List<Attempt> attempts,

            @Schema(description = "of an elastic workload: the newest of those that came beyond minWorkers")
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

        /** With paths as its tenant writes them, and nothing of other tenants, whatever older versions stored. */
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

    /** How the leader of version 0.1 called other tenants in stored receipts. */
    private static final String ANOTHER_TENANT = "another tenant";

    /** Of {@code acme/research} as older versions stored it: {@code /research}, and {@code /} of {@code acme}. */
    private static String group(TenantId tenant, String path) {
        if (path.equals(tenant.value())) {
            return "/";
        }
        return path.startsWith(tenant + "/") ? path.substring(tenant.value().length()) : path;
    }

    /**
     * A worker that an elastic workload was given beyond those it started with. It comes and goes while the attempt goes on.
     *
     * @param attempt number of the attempt that it belongs to
     * @param worker its number among the workers; those the attempt started with are numbered from 0
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

            @Schema(description = "until when it may take to stop") @Nullable
            Instant deadline,

            @Nullable Instant endedAt,
            @Nullable Integer exitCode,
            @Nullable String message) {}

    /**
     * Why it does not start in one pool.
     *
     * @param path the group that is in the way, where one is; {@code /} for the tenant
     * @param bound what must not be passed; {@code used} comes with it, and not without: a pool's use is others' too
     * @param free what nobody holds in the pool
     * @param remedy what would have to happen
     */
    @Schema(name = "WaitReason")
    public record Reason(
            String pool,
            @Schema(ref = "WaitReasonCode") String code,

            @Schema(
                    description = "path of the group whose bound is in the way; / for the tenant's own",
                    examples = "/rnd")
            @Nullable
            String path,

            @Nullable String requested,
            @Nullable String used,
            @Nullable String bound,
            @Nullable String free,
            String sentence,
            String remedy) {

        /** As the tenant of the workload may see it: where no bound of its own is named, what is used is others', too. */
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

    /** A place that is kept for it until those who hold it have left. */
    @Schema(name = "Nomination")
    public record Nomination(String pool, Instant since) {}

    /**
     * How it was made to give way.
     *
     * @param forWorkload whom it made room for, when that is the same tenant's
     * @param receipt the numbers behind it
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
     * The rule and the numbers behind a preemption, as the tenant of the workload may see them.
     *
     * @param before the branches that were compared, before the plan
     * @param after the same branches, once what was told to stop has left and what it made room for runs
     * @param considered the tenant's own work that was looked at, in that order
     */
    @Schema(name = "PreemptionReceipt")
    public record Receipt(
            @Schema(ref = "PreemptionRight") String right,

            @Schema(description = "the branches of the quota tree that were compared, before the plan")
            List<Share> before,

            @Schema(description = "the same branches, once what was told to stop has left")
            List<Share> after,

            @Schema(description = "the tenant's own work that was looked at, in that order")
            List<Considered> considered) {

        Receipt seenBy(TenantId tenant) {
            return new Receipt(right, seenBy(tenant, before), seenBy(tenant, after), considered);
        }

        private static List<Share> seenBy(TenantId tenant, List<Share> shares) {
            return shares.stream().map(share -> share.seenBy(tenant)).distinct().toList();
        }
    }

    /** One branch of the quota tree in a receipt. Of another tenant's it says that there is one, and nothing else. */
    @Schema(name = "ReceiptShare")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Share(
            @Schema(
                    description = "path of the group; / for the tenant itself; absent for another tenant's",
                    examples = "/rnd")
            @Nullable
            String path,

            @Schema(description = "name of the pool, or * for all pools together") @Nullable
            String scope,

            @Nullable String used,
            @Nullable String reserved,
            @Nullable String fairShare,

            @Schema(description = "true for a branch of another tenant, of which nothing else is shown; else absent")
            @Nullable
            Boolean anotherTenant) {

        Share seenBy(TenantId tenant) {
            return path == null || path.equals(ANOTHER_TENANT)
                    ? new Share(null, null, null, null, null, true)
                    : new Share(group(tenant, path), scope, used, reserved, fairShare, null);
        }
    }

    /** A workload of the tenant's that was looked at as one to stop. */
    @Schema(name = "ReceiptCandidate")
    public record Considered(
            UUID workload,

            @Schema(ref = "ConsideredOutcome") String outcome) {}

    /**
     * Why a workload is where it is.
     *
     * @param sentence the answer in words
     * @param reasons per pool in the order of its profile, while it waits
     * @param position while it waits
     * @param rule by which right its attempt holds devices
     * @param outlook while it waits; absent when it could not be worked out soon
     */
    @Schema(name = "Explanation")
    public record Explanation(
            UUID id,
            @Schema(ref = "WorkloadState") String state,
            String sentence,
            List<Reason> reasons,

            @Schema(description = "the moment of which the reasons are true; with an outlook, the outlook's own")
            @Nullable
            Instant reasonsAt,

            @Nullable Position position,
            @Nullable Nomination nomination,

            @Schema(description = "how the newest attempt was made to give way, where it was") @Nullable
            Preemption preemption,

            @Schema(
                    ref = "StartRule",
                    description =
                            "the right by which its attempt holds its devices; absent while it holds none, and for work that uses no GPU")
            @Nullable
            String rule,

            @Schema(
                    description =
                            "while it waits, of the moment of the reasons; absent when it could not be worked out soon")
            @Nullable
            Outlook outlook) {}

    /**
     * What is foretold of a workload that waits.
     *
     * @param startsAt when it starts, if what runs ends when its maximum run time is over and nothing new comes
     */
    @Schema(name = "Outlook")
    public record Outlook(
            @Schema(description = "the moment of which it is true")
            Instant asOf,

            @Schema(
                    description =
                            "when it starts, if what runs ends when its maximum run time is over and nothing new comes; absent where too few say how long they run")
            @Nullable
            Instant startsAt,

            @Schema(
                    description =
                            "whose turn it is in its queue, where that starts its work in strict order; absent where it is its own")
            @Nullable
            Holder behind,

            @Schema(description = "per pool in the order of its profile")
            List<PoolOutlook> pools) {}

    /**
     * The outlook in one pool.
     *
     * @param roomAt when there is room for it at the latest, if those who run end when they must; others may be before it
     * @param preemptsFrom until when nothing that runs is stopped for it
     * @param fence what keeps it from taking something back
     */
    @Schema(name = "PoolOutlook")
    public record PoolOutlook(
            String pool,
            @Schema(ref = "WaitReasonCode") String code,

            @Schema(description = "the tenant's own work that holds what is missing, the largest first; at most ten")
            List<Holder> holders,

            @Schema(description = "whether work of others holds some of the pool; it is not named")
            boolean heldByOthers,

            @Schema(
                    description =
                            "what would have to change for it to start at once, or to have a place set aside: all of these changes together, and none of them can be left out. They were tried on the state of the explanation, with GPUs that come free together on one of the pool's nodes: on another node, other changes may be enough. Empty where no changes of these kinds were found to be enough")
            List<Relief> relief,

            @Schema(
                    description =
                            "when there is room for it at the latest, if those who run end when they must; work before it may take that room")
            @Nullable
            Instant roomAt,

            @Schema(
                    description =
                            "when running work may be stopped for it at the earliest, where the pool waits before preempting; absent from then on")
            @Nullable
            Instant preemptsFrom,

            @Schema(
                    description =
                            "the fenced group, or the fenced tenant, that keeps it from taking back what it could without the fence")
            @Nullable
            String fence) {

        String whyNothingIsStopped() {
            String until = preemptsFrom == null
                    ? ""
                    : " No running work in " + pool + " is stopped for it before " + TimeFormat.utc(preemptsFrom) + ".";
            String fenced = fence == null
                    ? ""
                    : " A fence around " + (fence.equals("/") ? "its tenant" : "group " + fence)
                            + " keeps it from taking GPUs back from outside in " + pool + ".";
            return until + fenced;
        }
    }

    /** Somebody's own work that is in the way. */
    @Schema(name = "Holder")
    public record Holder(UUID id, String name, String queue, String submittedBy) {}

    /**
     * A change of one number, one of those that would be enough together.
     *
     * @param pool where it counts; {@code *} for all pools together; absent for caps
     * @param path the group whose limit or reservation; absent where it is the pool's room
     * @param policy of that group
     */
    @Schema(name = "Relief")
    public record Relief(
            Change change,

            @Schema(
                    description =
                            "name of the pool in which it counts, or * for all pools together; absent for caps on users and on running work")
            @Nullable
            String pool,

            @Schema(
                    description =
                            "path of the group whose limit, cap or reservation it is; / for the tenant's own; absent where it is the pool's room",
                    examples = "/rnd")
            @Nullable
            String path,

            @Schema(description = "name of that group's policy; absent for the tenant's own, which is its allotment")
            @Nullable
            String policy,

            @Schema(
                    description =
                            "by how much; absent where workloads are counted, and where the amount depends on waiting work of other tenants, which is not shown")
            @Nullable
            GpuAmount gpus,

            @Schema(description = "how many more would have to be allowed at once; absent where GPUs are counted")
            @Nullable
            Long workloads) {

        private static final String ENOUGH = "enough GPUs";
        private static final String DEPENDS = " (how many depends on waiting work of others)";

        /** As a clause that begins with a verb. */
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
                            + " of " + whose + " run at once";
                case RESERVE_MORE -> "reserve " + more + " for " + whose + where;
                case FREE_IN_POOL -> "free " + (gpus == null ? ENOUGH + where + DEPENDS : more + where);
                case FREE_ON_ONE_NODE ->
                    "free "
                            + (gpus == null
                                    ? ENOUGH + " on one node" + where + DEPENDS
                                    : more + " on one node" + where);
            };
        }

        /** What would have to change. */
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
     * Who is to be tried before it, by priority and then by submission.
     *
     * @param aheadInQueue of the same queue
     * @param aheadInGroup of the same policy, in any of its queues
     */
    @Schema(name = "QueuePosition")
    public record Position(long aheadInQueue, long aheadInGroup, long waitingInQueue) {}
}
