package io.quartermaster.dispatch;

import io.quartermaster.dispatch.WorkloadRecord.LiveAttempt;
import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.Allocation.Place;
import io.quartermaster.engine.Allocation.Worker;
import io.quartermaster.engine.Decision;
import io.quartermaster.engine.Plan;
import io.quartermaster.engine.PoolId;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Receipt;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** The engine's decisions as rows. */
final class PlanTranslation {

    private final PlanRows rows;
    private final Fence fence;
    private final Function<PoolId, UUID> pools;
    private final Map<UUID, String> clusters;
    private final Function<UUID, WorkloadRecord.Binding> told;

    /**
     * @param clusters names, by node
     * @param told by what a workload waited when the engine was told of it
     */
    PlanTranslation(
            PlanRows rows,
            Fence fence,
            Function<PoolId, UUID> pools,
            Map<UUID, String> clusters,
            Function<UUID, WorkloadRecord.Binding> told) {
        this.rows = rows;
        this.fence = fence;
        this.pools = pools;
        this.clusters = clusters;
        this.told = told;
    }

    /** @param records of every workload that the plan decides about or for */
    void translate(Plan plan, Map<UUID, WorkloadRecord> records) {
        for (Decision decision : plan.decisions()) {
            WorkloadRecord workload =
                    record(records, UUID.fromString(decision.workload().value()));
            switch (decision) {
                case Decision.Start start -> start(workload, start);
                case Decision.Preempt preempt -> preempt(workload, preempt, records);
                case Decision.Nominate nominate ->
                    rows.nomination(
                            workload.tenant(),
                            workload.id(),
                            pools.apply(nominate.place().pool()),
                            EngineFacts.nominationBody(nominate.place()));
                case Decision.Denominate denominate -> rows.denomination(workload.tenant(), workload.id());
                case Decision.Grow grow -> throw elastic(workload);
                case Decision.Shrink shrink -> throw elastic(workload);
            }
        }
    }

    /** Whom a decision makes room for, if for anyone. */
    static Optional<UUID> successor(Decision decision) {
        return switch (decision) {
            case Decision.Preempt preempt ->
                Optional.of(UUID.fromString(preempt.successor().value()));
            case Decision.Shrink shrink ->
                Optional.of(UUID.fromString(shrink.successor().value()));
            case Decision.Start start -> Optional.empty();
            case Decision.Grow grow -> Optional.empty();
            case Decision.Nominate nominate -> Optional.empty();
            case Decision.Denominate denominate -> Optional.empty();
        };
    }

    private void start(WorkloadRecord workload, Decision.Start start) {
        Allocation allocation = start.allocation();
        UUID pool = pools.apply(allocation.pool());
        UUID attempt = Ids.next();
        rows.newAttempt(workload, attempt, pool, allocation.gpuMilli(), word(start.rule()));
        String cluster = allocation.pool().value();
        for (Worker worker : allocation.workers()) {
            EngineFacts.devices(worker.place())
                    .forEach(device -> rows.device(workload.tenant(), attempt, worker.number(), device));
            if (worker.place() instanceof Place.OnNode onNode) {
                UUID node = UUID.fromString(onNode.node().value());
                rows.touch(node);
                cluster = clusters.getOrDefault(node, cluster);
            }
        }
        rows.workloadStarts(
                workload,
                told.apply(workload.id()),
                new JsonObject()
                        .put("attempts", workload.attempts() + 1)
                        .put("attempt", workload.attempts() + 1)
                        .put("pool", allocation.pool().value())
                        .put("rule", word(start.rule())));
        if (workload.nomination().isPresent()) {
            rows.denomination(workload.tenant(), workload.id());
        }
        if (allocation.gpuMilli() > 0) {
            rows.usage(
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
                .put("user", workload.submittedBy())
                .put("cluster", cluster)
                .put("preemptible", workload.preemptible());
    }

    private void preempt(WorkloadRecord victim, Decision.Preempt preempt, Map<UUID, WorkloadRecord> records) {
        LiveAttempt attempt = victim.attempt()
                .orElseThrow(() -> new IllegalStateException(victim.id() + " is to stop but has no live attempt"));
        rows.attemptStopping(
                victim.tenant(), attempt.id(), "preempted", victim.terms().graceMillis());
        WorkloadRecord successor =
                record(records, UUID.fromString(preempt.successor().value()));
        boolean sameTenant = successor.tenant().equals(victim.tenant());
        JsonObject told = new JsonObject().put("attempt", attempt.number()).put("cause", word(preempt.cause()));
        JsonObject row = new JsonObject()
                .put("tenant_id", victim.tenant().value())
                .put("id", Ids.next().toString())
                .put("workload_id", victim.id().toString())
                .put("attempt_id", attempt.id().toString())
                .put("cause", word(preempt.cause()))
                .put("receipt", receipt(preempt.receipt(), victim.tenant(), records));
        if (sameTenant) {
            told.put("for", successor.id().toString());
            row.put("for_workload", successor.id().toString());
        }
        rows.workloadState(victim, "stopping", told);
        rows.preemption(row);
        if (attempt.gpuMilli() > 0) {
            rows.usage(
                    victim.tenant(),
                    "phase",
                    attempt.pool(),
                    new JsonObject()
                            .put("allocation_id", attempt.id().toString())
                            .put("phase", "stopping")
                            .put("since_ms", fence.stampMillis()));
        }
        attempt.devices().forEach(device -> device.node().ifPresent(rows::touch));
    }

    /** As the victim's tenant may see it: others' pressure in numbers, without their names. */
    private static JsonObject receipt(Receipt receipt, TenantId tenant, Map<UUID, WorkloadRecord> records) {
        JsonArray considered = new JsonArray();
        receipt.considered().forEach(each -> {
            WorkloadRecord other = records.get(UUID.fromString(each.workload().value()));
            if (other != null && other.tenant().equals(tenant)) {
                considered.add(new JsonObject()
                        .put("workload", each.workload().value())
                        .put("outcome", word(each.outcome())));
            }
        });
        return new JsonObject()
                .put("right", word(receipt.right()))
                .put("before", shares(receipt.before(), tenant))
                .put("after", shares(receipt.after(), tenant))
                .put("considered", considered);
    }

    private static JsonArray shares(Iterable<Receipt.Share> shares, TenantId tenant) {
        JsonArray json = new JsonArray();
        for (Receipt.Share share : shares) {
            json.add(new JsonObject()
                    .put("path", seenBy(tenant, share.path()))
                    .put("scope", share.scope().toString())
                    .put("used", new GpuAmount(share.usedGpuMilli()).decimal())
                    .put("reserved", new GpuAmount(share.reservedGpuMilli()).decimal())
                    .put("fairShare", new GpuAmount(share.fairGpuMilli()).decimal()));
        }
        return json;
    }

    private static String seenBy(TenantId tenant, QuotaPath path) {
        return path.tenant().equals(tenant.value()) ? path.toString() : "another tenant";
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static IllegalStateException elastic(WorkloadRecord workload) {
        return new IllegalStateException("no elastic workload was stated, yet its workers change: " + workload.id());
    }

    private static WorkloadRecord record(Map<UUID, WorkloadRecord> records, UUID id) {
        WorkloadRecord found = records.get(id);
        if (found == null) {
            throw new IllegalStateException("the plan decides about a workload that is not stored: " + id);
        }
        return found;
    }
}
