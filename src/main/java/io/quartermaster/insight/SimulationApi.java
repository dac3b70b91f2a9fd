package io.quartermaster.insight;

import io.quartermaster.capacity.grants.QuotaFields;
import io.quartermaster.capacity.grants.QuotaOverrideApi;
import io.quartermaster.governance.profiles.ProfileApi;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.workloads.WorkloadApi;
import io.quartermaster.workloads.WorkloadType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What-if questions and their answers as the API speaks of them. */
final class SimulationApi {

    private static final String HORIZON = "how far to look ahead; absent: as the operator set it, a day by default";

    private SimulationApi() {}

    @Schema(name = "SimulationRequest", description = "What would be otherwise; at least one thing.")
    record Request(
            @Schema(description = "work that might be submitted now") @Nullable
            List<@Nullable Hypothetical> workloads,

            @Schema(description = "policies that might say something else") @Nullable
            List<@Nullable PolicyChange> policies,

            @Schema(description = HORIZON, examples = "PT12H") @Nullable
            Duration horizon) {}

    @Schema(
            name = "CellSimulationRequest",
            description = "What would be otherwise in the whole cell; at least one thing.")
    record CellRequest(
            @Nullable List<@Nullable TenantChange> tenants,
            @Nullable NodesChange nodes,

            @Schema(description = HORIZON, examples = "PT12H") @Nullable
            Duration horizon) {}

    @Schema(name = "SimulatedTenantChange", description = "What would be otherwise of one tenant.")
    record TenantChange(
            @Schema(required = true) @Nullable String tenant,
            @Nullable List<@Nullable Hypothetical> workloads,
            @Nullable List<@Nullable PolicyChange> policies,

            @Schema(description = "parts of pools that might be granted instead of the present ones") @Nullable
            List<@Nullable QuotaChange> allotments) {}

    @Schema(
            name = "HypotheticalWorkload",
            description = "Work for a queue; or, for whoever may change its policy, work of any shape under a policy.")
    record Hypothetical(
            @Schema(description = "under which the answer speaks of it; absent: hypothetical") @Nullable
            String name,

            @Schema(description = "name of a queue; else policy and shape are given") @Nullable
            String queue,

            @Schema(description = "name of a policy, with a shape instead of a queue") @Nullable
            String policy,

            @Schema(description = "what a profile would say, without a name")
            ProfileApi.@Nullable Request shape,

            @Schema(description = "whole GPUs of one worker, where the profile has a range; absent: the profile's gpus")
            @Nullable
            GpuAmount gpus,

            @Schema(description = "with how many of them it starts where it cannot have all; absent: all") @Nullable
            GpuAmount minGpus,

            @Schema(description = "how many like it, one after the other; absent: 1") @Nullable
            Integer count,

            @Schema(description = "absent: training") @Nullable
            WorkloadType type,

            @Nullable Integer priority,
            @Nullable Boolean preemptible,
            @Nullable Boolean dedicatedOnly,

            @Schema(description = "it ends after this at the latest; absent: the profile's, or never") @Nullable
            Duration maxRuntime) {}

    @Schema(name = "HypotheticalPolicy", description = "What is absent stays as it is.")
    record PolicyChange(
            @Schema(required = true, description = "name of a policy") @Nullable
            String policy,

            @Schema(description = "each in the place of what the policy says of that pool") @Nullable
            List<@Nullable QuotaChange> quotas,

            @Nullable Boolean overQuota,

            @Schema(description = "the most that one user may hold at once") @Nullable
            GpuAmount userLimit,

            @Schema(description = "the most workloads that may run at once") @Nullable
            Integer maxRunning) {}

    @Schema(
            name = "HypotheticalQuota",
            description =
                    "What is absent takes its default: 0 reserved, no limit, all lendable, rank 0. An override and a date to drain by stay as they are.")
    record QuotaChange(
            @Schema(required = true, description = "name of a pool; in a policy also * for all pools together")
            @Nullable
            String pool,

            @Nullable GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            @Nullable Integer rank,

            @Schema(description = "what stands for a time instead; absent: that which is stated already")
            QuotaOverrideApi.@Nullable Request override,

            @Schema(
                    description = "by then what is held above the limit is to be gone; absent: as it is stated already",
                    examples = "2026-12-01T18:00:00Z")
            @Nullable
            String drainBy,

            @Nullable Boolean fence) {

        QuotaFields fields() {
            return new QuotaFields(reserved, limit, weight, lendable, rank, override, drainBy, fence);
        }
    }

    @Schema(name = "SimulatedNodesChange")
    record NodesChange(
            @Nullable List<@Nullable NewNodes> added,

            @Schema(description = "names of nodes; what runs there waits again") @Nullable
            List<String> removed,

            @Schema(description = "names of nodes that are lost; what runs there waits again") @Nullable
            List<String> down) {}

    @Schema(name = "HypotheticalNodes")
    record NewNodes(
            @Schema(required = true, description = "name of a pool") @Nullable
            String pool,

            @Schema(required = true, description = "GPUs of each") @Nullable
            Integer gpus,

            @Schema(description = "how many like it; absent: 1") @Nullable
            Integer count,

            @Schema(description = "model of its GPUs", examples = "H100") @Nullable
            String model,

            @Schema(description = "memory of each GPU; absent: 0, unknown") @Nullable
            Long gpuMemoryMiB,

            @Schema(description = "whether its GPUs can be cut into MIG instances; absent: no") @Nullable
            Boolean mig,

            @Schema(description = "thousandths of a core; absent: not limiting") @Nullable
            Long cpuMilli,

            @Schema(description = "main memory; absent: not limiting") @Nullable
            Long memoryMiB,

            @Nullable Map<String, String> labels,
            @Nullable List<String> topology) {}

    @Schema(name = "Simulation", description = "What would be otherwise; nothing was changed.")
    record View(
            @Schema(description = "the moment that it begins with")
            Instant asOf,

            @Schema(description = "up to when it reaches") Instant until,

            @Schema(description = "false: it took too long, and reaches less far than was asked")
            boolean complete,

            @Schema(description = "what was asked for, in its order")
            List<Predicted> workloads,

            @Schema(description = "those who fare otherwise than without the change, by id; at most 1000")
            List<Difference> differences,

            @Schema(description = "how many more there are") int differencesLeftOut,

            List<PoolUse> pools,

            @Schema(description = "what the grants that were asked about would be warned of")
            List<String> warnings) {}

    @Schema(name = "PredictedWorkload")
    record Predicted(
            @Schema(description = "only in answers to operators") @Nullable
            String tenant,

            String name,

            @Schema(description = "absent: not up to then") @Nullable
            Instant startsAt,

            @Nullable String pool,

            @Schema(description = "when it is told to give way") @Nullable
            Instant stopsAt,

            @Nullable StopCause stopCause,

            @Schema(description = "why it does not start at once")
            List<WorkloadApi.Reason> reasons) {}

    /** Why it would be told to stop. */
    @Schema(name = "SimulatedStopCause")
    enum StopCause {
        RECLAIM,
        PREEMPT,
        CONSOLIDATE,
        DRAIN,
        CLOSE,
        BUDGET
    }

    @Schema(name = "SimulatedDifference")
    record Difference(
            UUID id,

            @Schema(description = "only in answers to operators") @Nullable
            String tenant,

            String name,
            String queue,
            Fate before,
            Fate after) {}

    @Schema(name = "SimulatedFate", description = "What becomes of it up to then.")
    record Fate(
            @Schema(description = "absent: it runs already, or does not start") @Nullable
            Instant startsAt,

            @Nullable String pool,

            @Schema(description = "when it is told to give way") @Nullable
            Instant stopsAt,

            @Nullable StopCause stopCause,

            @Schema(ref = "WaitReasonCode") @Nullable String reason) {}

    @Schema(name = "SimulatedPool")
    record PoolUse(
            String pool,
            Use before,
            Use after,

            @Schema(description = "whether others hold some of it after the change; in answers to tenants only")
            @Nullable
            Boolean heldByOthers) {}

    @Schema(name = "SimulatedUse", description = "Of the tenant alone; in answers to operators of all.")
    record Use(
            @Schema(description = "what is up; only in answers to operators") @Nullable
            GpuAmount capacity,

            GpuAmount reserved,

            @Schema(description = "what is held after the plans of the first moment")
            GpuAmount usedAtFirst,

            @Schema(description = "what is held at the last")
            GpuAmount usedAtLast) {}
}
