package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Allocation.Place;
import io.quartermaster.engine.model.Allocation.Worker;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;

/**
 * The translation of the engine's decisions into rows. A decision that contradicts the stored state is a
 * {@link PlanFailedException}; no part of its plan is written.
 */
public final class PlanTranslation {

    private final PlanRows rows;
    private final Fence fence;
    private final Function<PoolId, UUID> pools;
    private final Map<UUID, String> clusters;
    private final Set<UUID> pausing;
    private final Function<UUID, WorkloadRecord.Binding> publishedBinding;
    /** The numbers of the attempts that start in this plan, by workload. */
    private final Map<UUID, Integer> started = new HashMap<>();
    /** The workloads with a nominated place from this plan on. If one of them is a victim, it moves to that place. */
    private final Set<WorkloadId> nominated = new HashSet<>();

    /**
     * Creates the translation of one plan. The last parameter returns the policy, queue and profile by which the engine
     * knows a waiting workload.
     *
     * @param clusters the names of clusters, by node
     * @param pausing the nodes that can pause processes
     */
    public PlanTranslation(
            PlanRows rows,
            Fence fence,
            Function<PoolId, UUID> pools,
            Map<UUID, String> clusters,
            Set<UUID> pausing,
            Function<UUID, WorkloadRecord.Binding> publishedBinding) {
        this.rows = rows;
        this.fence = fence;
        this.pools = pools;
        this.clusters = clusters;
        this.pausing = pausing;
        this.publishedBinding = publishedBinding;
    }

    /** @param records of all workloads that the plan decides about, and of all preemptors */
    public void translate(Plan plan, Map<UUID, WorkloadRecord> records) {
        plan.decisions().forEach(decision -> {
            if (decision instanceof Decision.Nominate nominate) {
                nominated.add(nominate.workload());
            }
        });
        for (Decision decision : plan.decisions()) {
            UUID decided = UUID.fromString(decision.workload().value());
            WorkloadRecord workload =
                    requireRecord(records, decided, preemptorOf(decision).orElse(decided));
            switch (decision) {
                case Decision.Start start -> start(workload, start);
                case Decision.Evict evict -> preempt(workload, evict, records);
                case Decision.Nominate nominate ->
                    rows.addNomination(
                            workload.tenant(),
                            workload.id(),
                            pools.apply(nominate.place().pool()),
                            EngineFacts.nominationBody(nominate.place()));
                case Decision.WithdrawNomination withdrawNomination ->
                    rows.withdrawNomination(workload.tenant(), workload.id());
                case Decision.Grow grow -> grow(workload, grow);
                case Decision.Shrink shrink -> shrink(workload, shrink, records);
            }
        }
    }

    /** The workload for which a decision makes room, if any. */
    public static Optional<UUID> preemptorOf(Decision decision) {
        return switch (decision) {
            case Decision.Evict evict -> evict.successor().map(id -> UUID.fromString(id.value()));
            case Decision.Shrink shrink -> shrink.successor().map(id -> UUID.fromString(id.value()));
            case Decision.Start start -> Optional.empty();
            case Decision.Grow grow -> Optional.empty();
            case Decision.Nominate nominate -> Optional.empty();
            case Decision.WithdrawNomination withdrawNomination -> Optional.empty();
        };
    }

    private void start(WorkloadRecord workload, Decision.Start start) {
        if (workload.attempt().isPresent() || workload.isOver()) {
            throw PlanFailedException.invalidDecision(
                    workload.id() + " is to start but " + (workload.isOver() ? "is over" : "has a live attempt"),
                    workload.id());
        }
        int number = workload.attempts() + 1;
        started.put(workload.id(), number);
        bind(
                workload,
                number,
                OptionalInt.empty(),
                start.allocation(),
                resumedAttempt(workload, start),
                start.rule(),
                start.fromReservation());
        rows.setWorkloadStarting(
                workload,
                publishedBinding.apply(workload.id()),
                new JsonObject()
                        .put("attempts", number)
                        .put("attempt", number)
                        .put("pool", start.allocation().pool().value())
                        .put("rule", word(start.rule())));
        if (workload.nomination().isPresent()) {
            rows.withdrawNomination(workload.tenant(), workload.id());
        }
    }

    /** While a workload has paused processes on a node, it may start only by resuming them. */
    private static Optional<UUID> resumedAttempt(WorkloadRecord workload, Decision.Start start) {
        workload.paused()
                .filter(work ->
                        !start.allocation().touches(new NodeId(work.node().toString())))
                .ifPresent(work -> {
                    throw PlanFailedException.invalidDecision(
                            workload.id() + " is to start on another node than its paused processes", workload.id());
                });
        return workload.paused().map(PausedWork::attempt);
    }

    /** Each surplus worker has an attempt of its own: with its own devices, desired state, reports and usage. */
    private void grow(WorkloadRecord workload, Decision.Grow grow) {
        // The workload may start in the same plan.
        Integer startedNow = started.get(workload.id());
        int number =
                startedNow == null ? requireAttempt(workload, workload.id()).number() : startedNow;
        for (Worker worker : grow.added().workers()) {
            bind(
                    workload,
                    number,
                    OptionalInt.of(worker.number()),
                    new Allocation(grow.added().pool(), List.of(worker)),
                    Optional.empty(),
                    grow.rule(),
                    false);
        }
        WorkloadState state = startedNow == null ? workload.state() : new WorkloadState.Starting();
        rows.addFeedEntry(
                workload.tenant(),
                workload.id(),
                new JsonObject()
                        .put("state", state.word())
                        .put("attempt", number)
                        .put("pool", grow.added().pool().value())
                        .put("rule", word(grow.rule())));
        if (workload.nomination().isPresent()) {
            rows.withdrawNomination(workload.tenant(), workload.id());
        }
    }

    private void bind(
            WorkloadRecord workload,
            int number,
            OptionalInt surplus,
            Allocation allocation,
            Optional<UUID> resumes,
            Decision.Rule rule,
            boolean fromReservation) {
        UUID pool = pools.apply(allocation.pool());
        UUID attempt = Ids.next();
        rows.addAttempt(
                workload, attempt, number, surplus, pool, allocation.gpuMilli(), resumes, word(rule), fromReservation);
        String cluster = allocation.pool().value();
        for (Worker worker : allocation.workers()) {
            EngineFacts.devices(worker.place())
                    .forEach(device -> rows.addDevice(workload.tenant(), attempt, worker.number(), device));
            if (worker.place() instanceof Place.OnNode onNode) {
                UUID node = UUID.fromString(onNode.node().value());
                rows.addStart(node, pool);
                cluster = clusters.getOrDefault(node, cluster);
            }
        }
        if (allocation.gpuMilli() > 0) {
            rows.addUsageEvent(
                    workload.tenant(),
                    "allocated",
                    pool,
                    new JsonObject()
                            .put("allocation_id", attempt.toString())
                            .put("gpu_milli", allocation.gpuMilli())
                            .put("policy_id", workload.terms().policy().toString())
                            .put("marks", marks(workload, attempt, cluster)));
        }
    }

    private static JsonObject marks(WorkloadRecord workload, UUID attempt, String cluster) {
        return new JsonObject()
                .put("policy", workload.terms().policy().toString())
                .put("group", workload.terms().group())
                .put("profile", workload.terms().profileName())
                .put("queue", workload.terms().queueName())
                .put("workload", workload.id().toString())
                .put("attempt", attempt.toString())
                .put("user", workload.submitter().name())
                .put("cluster", cluster)
                .put("preemptible", workload.preemptible());
    }

    private void preempt(WorkloadRecord victim, Decision.Evict evict, Map<UUID, WorkloadRecord> records) {
        LiveAttempt attempt = requireAttempt(victim, preemptorOf(evict).orElse(victim.id()));
        Optional<WorkloadRecord> successor = preemptorOf(evict).map(id -> requireRecord(records, id, id));
        rows.setWorkloadState(
                victim, new WorkloadState.Stopping(), stopDetails(victim, attempt, evict.cause(), successor));
        stop(victim, attempt, stopReason(victim, attempt), evict.cause(), evict.receipt(), successor, records);
        for (SurplusWorker worker : attempt.surplus().workers()) {
            if (!worker.attempt().isStopping()) {
                stop(victim, worker.attempt(), AttemptStopReason.PREEMPTED);
            }
        }
    }

    private void shrink(WorkloadRecord victim, Decision.Shrink shrink, Map<UUID, WorkloadRecord> records) {
        LiveAttempt core = requireAttempt(victim, preemptorOf(shrink).orElse(victim.id()));
        Optional<WorkloadRecord> successor = preemptorOf(shrink).map(id -> requireRecord(records, id, id));
        JsonObject details = stopDetails(victim, core, shrink.cause(), successor);
        rows.addFeedEntry(
                victim.tenant(),
                victim.id(),
                details.put("state", victim.state().word()));
        Set<Integer> leaving = new TreeSet<>(shrink.workers());
        for (SurplusWorker worker : core.surplus().workers()) {
            if (leaving.remove(worker.number())) {
                stop(
                        victim,
                        worker.attempt(),
                        AttemptStopReason.PREEMPTED,
                        shrink.cause(),
                        shrink.receipt(),
                        successor,
                        records);
            }
        }
        if (!leaving.isEmpty()) {
            throw PlanFailedException.invalidDecision(
                    victim.id() + " is to lose workers that are not among its surplus workers: " + leaving,
                    preemptorOf(shrink).orElse(victim.id()));
        }
    }

    /** A victim with one worker is paused if its policy says so and its node can do it, unless it moves. */
    private AttemptStopReason stopReason(WorkloadRecord victim, LiveAttempt attempt) {
        boolean pauses = victim.terms().onPreemption() == PreemptionAction.PAUSE
                && victim.terms().workers() == 1
                && WorkloadRecord.isCountedAlike(victim.terms().gpus())
                && attempt.gpuMilli() == victim.terms().wholeGpuMilli().getFirst()
                && attempt.nodes().size() == 1
                && pausing.contains(attempt.nodes().getFirst())
                && !nominated.contains(EngineFacts.id(victim.id()));
        return pauses ? AttemptStopReason.PAUSED : AttemptStopReason.PREEMPTED;
    }

    private static JsonObject stopDetails(
            WorkloadRecord victim,
            LiveAttempt attempt,
            EvictionCause evictionCause,
            Optional<WorkloadRecord> successor) {
        JsonObject details = new JsonObject().put("attempt", attempt.number()).put("cause", word(evictionCause));
        visibleTo(successor, victim.tenant()).ifPresent(id -> details.put("for", id.toString()));
        return details;
    }

    /** The preemptor of a victim, if the victim's tenant may see it. */
    private static Optional<UUID> visibleTo(Optional<WorkloadRecord> successor, TenantId tenant) {
        return successor.filter(one -> one.tenant().equals(tenant)).map(WorkloadRecord::id);
    }

    /** Asks the attempt to stop, and records the preemption with its preemptor. */
    private void stop(
            WorkloadRecord victim,
            LiveAttempt attempt,
            AttemptStopReason reason,
            EvictionCause evictionCause,
            EvictionReceipt evictionReceipt,
            Optional<WorkloadRecord> successor,
            Map<UUID, WorkloadRecord> records) {
        stop(victim, attempt, reason);
        JsonObject row = new JsonObject()
                .put("tenant_id", victim.tenant().value())
                .put("id", Ids.next().toString())
                .put("workload_id", victim.id().toString())
                .put("attempt_id", attempt.id().toString())
                .put("cause", word(evictionCause))
                .put("receipt", receipt(evictionReceipt, victim.tenant(), records));
        visibleTo(successor, victim.tenant()).ifPresent(id -> row.put("for_workload", id.toString()));
        rows.addPreemption(row);
    }

    private void stop(WorkloadRecord victim, LiveAttempt attempt, AttemptStopReason reason) {
        rows.addAttemptStop(
                victim.tenant(), attempt.id(), reason, victim.terms().graceMillis());
        rows.addPhase(victim.tenant(), attempt, "stopping", fence.stampMillis());
        attempt.nodes().forEach(rows::touchNode);
    }

    /**
     * The receipt as the victim's tenant may see it. It shows that another tenant was compared, but nothing more of
     * that tenant.
     */
    private static JsonObject receipt(
            EvictionReceipt evictionReceipt, TenantId tenant, Map<UUID, WorkloadRecord> records) {
        JsonArray considered = new JsonArray();
        evictionReceipt.considered().forEach(each -> {
            WorkloadRecord other = records.get(UUID.fromString(each.workload().value()));
            if (other != null && other.tenant().equals(tenant)) {
                considered.add(new JsonObject()
                        .put("workload", each.workload().value())
                        .put("outcome", word(each.outcome())));
            }
        });
        return new JsonObject()
                .put("right", word(evictionReceipt.right()))
                .put("before", shares(evictionReceipt.before(), tenant))
                .put("after", shares(evictionReceipt.after(), tenant))
                .put("considered", considered);
    }

    private static JsonArray shares(Iterable<EvictionReceipt.Share> shares, TenantId tenant) {
        JsonArray json = new JsonArray();
        boolean others = false;
        for (EvictionReceipt.Share share : shares) {
            if (!share.path().tenant().equals(tenant.value())) {
                others = true;
                continue;
            }
            json.add(new JsonObject()
                    .put("path", share.path().group())
                    .put("scope", share.scope().toString())
                    .put("used", new GpuAmount(share.usedGpuMilli()).decimal())
                    .put("reserved", new GpuAmount(share.reservedGpuMilli()).decimal())
                    .put("fairShare", new GpuAmount(share.fairGpuMilli()).decimal()));
        }
        return others ? json.add(new JsonObject().put("anotherTenant", true)) : json;
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static LiveAttempt requireAttempt(WorkloadRecord workload, UUID decidedFor) {
        return workload.attempt()
                .orElseThrow(() -> PlanFailedException.invalidDecision(
                        workload.id() + " is to change but has no live attempt", decidedFor));
    }

    private static WorkloadRecord requireRecord(Map<UUID, WorkloadRecord> records, UUID id, UUID decidedFor) {
        WorkloadRecord found = records.get(id);
        if (found == null) {
            throw PlanFailedException.invalidDecision(
                    "the plan decides about a workload that is not stored: " + id, decidedFor);
        }
        return found;
    }
}
