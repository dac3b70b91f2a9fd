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

/** The requests and results of simulations in the API. */
final class SimulationApi {

    private static final String HORIZON =
            "How far to look ahead. Absent: as the operator configured it, a day by default.";

    private SimulationApi() {}

    @Schema(name = "SimulationRequest", description = "The changes to simulate; at least one.")
    record Request(
            @Schema(description = "Workloads to submit in the simulation.") @Nullable
            List<@Nullable Hypothetical> workloads,

            @Schema(description = "Policies to change in the simulation.") @Nullable
            List<@Nullable PolicyChange> policies,

            @Schema(description = HORIZON, examples = "PT12H") @Nullable
            Duration horizon) {}

    @Schema(name = "CellSimulationRequest", description = "The changes to simulate in the whole cell; at least one.")
    record CellRequest(
            @Nullable List<@Nullable TenantChange> tenants,
            @Nullable NodesChange nodes,

            @Schema(description = HORIZON, examples = "PT12H") @Nullable
            Duration horizon) {}

    @Schema(name = "SimulatedTenantChange", description = "The changes to simulate for one tenant.")
    record TenantChange(
            @Schema(required = true) @Nullable String tenant,
            @Nullable List<@Nullable Hypothetical> workloads,
            @Nullable List<@Nullable PolicyChange> policies,

            @Schema(description = "Allotments that replace the present ones of the same pools.") @Nullable
            List<@Nullable QuotaChange> allotments) {}

    @Schema(
            name = "HypotheticalWorkload",
            description = "A workload for a queue. A caller who may change a policy can instead simulate a workload "
                    + "of any shape under that policy.")
    record Hypothetical(
            @Schema(description = "The name of the workload in the result. Absent: hypothetical.") @Nullable
            String name,

            @Schema(description = "The name of a queue. Without it, state a policy and a shape.") @Nullable
            String queue,

            @Schema(description = "The name of a policy, with a shape, in place of a queue.") @Nullable
            String policy,

            @Schema(description = "The fields of a profile, without a name.")
            ProfileApi.@Nullable Request shape,

            @Schema(
                    description =
                            "Whole GPUs per worker, if the profile has a range. Absent: the profile's number of GPUs.")
            @Nullable
            GpuAmount gpus,

            @Schema(description = "The number of GPUs with which a worker starts if it cannot have all. Absent: all.")
            @Nullable
            GpuAmount minGpus,

            @Schema(description = "How many such workloads to submit, one after the other. Absent: 1.") @Nullable
            Integer count,

            @Schema(description = "The type of the workload. Absent: training.") @Nullable
            WorkloadType type,

            @Nullable Integer priority,
            @Nullable Boolean preemptible,
            @Nullable Boolean dedicatedOnly,

            @Schema(description = "The maximum run time. Absent: that of the profile, or none.") @Nullable
            Duration maxRuntime) {}

    @Schema(name = "HypotheticalPolicy", description = "Changes of a policy. Absent fields keep their present values.")
    record PolicyChange(
            @Schema(required = true, description = "The name of a policy.") @Nullable
            String policy,

            @Schema(description = "Quotas; each replaces the policy's quota for its pool.") @Nullable
            List<@Nullable QuotaChange> quotas,

            @Nullable Boolean overQuota,

            @Schema(description = "The most GPUs that one user may hold at a time.") @Nullable
            GpuAmount userLimit,

            @Schema(description = "The most workloads that may run at a time.") @Nullable
            Integer maxRunning) {}

    @Schema(
            name = "HypotheticalQuota",
            description = "A quota. Absent fields have their defaults: 0 reserved, no limit, all lendable, rank 0. An "
                    + "absent override or drain date keeps its present value.")
    record QuotaChange(
            @Schema(required = true, description = "The name of a pool; in a policy also * for all pools together.")
            @Nullable
            String pool,

            @Nullable GpuAmount reserved,
            @Nullable GpuAmount limit,
            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            @Nullable Integer rank,

            @Schema(description = "Values that apply for a limited time instead. Absent: the present override.")
            QuotaOverrideApi.@Nullable Request override,

            @Schema(
                    description = "The time by which usage above the limit must end. Absent: the present date.",
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

            @Schema(description = "The names of nodes to remove; their workloads wait again.") @Nullable
            List<String> removed,

            @Schema(description = "The names of nodes that are lost; their workloads wait again.") @Nullable
            List<String> down) {}

    @Schema(name = "HypotheticalNodes")
    record NewNodes(
            @Schema(required = true, description = "The name of a pool.") @Nullable
            String pool,

            @Schema(required = true, description = "The number of GPUs per node.") @Nullable
            Integer gpus,

            @Schema(description = "How many such nodes to add. Absent: 1.") @Nullable
            Integer count,

            @Schema(description = "The model of the GPUs.", examples = "H100") @Nullable
            String model,

            @Schema(description = "The memory of each GPU. Absent: 0, unknown.") @Nullable
            Long gpuMemoryMiB,

            @Schema(description = "Whether the GPUs can be divided into MIG instances. Absent: no.") @Nullable
            Boolean mig,

            @Schema(description = "CPU in thousandths of a core. Absent: no limit.") @Nullable
            Long cpuMilli,

            @Schema(description = "Main memory. Absent: no limit.") @Nullable
            Long memoryMiB,

            @Nullable Map<String, String> labels,
            @Nullable List<String> topology) {}

    @Schema(name = "Simulation", description = "The result of a simulation. A simulation changes nothing.")
    record View(
            @Schema(description = "The moment at which the simulation begins.")
            Instant asOf,

            @Schema(description = "The moment that the simulation reaches.")
            Instant until,

            @Schema(description = "False if it reached its time limit before the requested horizon.")
            boolean complete,

            @Schema(description = "The simulated workloads, in the order of the request.")
            List<Predicted> workloads,

            @Schema(description = "Existing workloads with another fate than without the changes, by id; at most 1000.")
            List<Difference> differences,

            @Schema(description = "How many further differences there are.")
            int differencesLeftOut,

            List<PoolUse> pools,

            @Schema(description = "The warnings that the simulated allotments and policies would produce.")
            List<String> warnings) {}

    @Schema(name = "PredictedWorkload")
    record Predicted(
            @Schema(description = "The tenant. Only in responses to operators.") @Nullable
            String tenant,

            String name,

            @Schema(description = "When it starts. Absent if it does not start within the simulation.") @Nullable
            Instant startsAt,

            @Nullable String pool,

            @Schema(description = "When the scheduler asks it to stop. Absent if it does not.") @Nullable
            Instant stopsAt,

            @Nullable StopCause stopCause,

            @Schema(description = "Why it does not start immediately.")
            List<WorkloadApi.Reason> reasons) {}

    /** Why the scheduler would ask it to stop. */
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

            @Schema(description = "The tenant. Only in responses to operators.") @Nullable
            String tenant,

            String name,
            String queue,
            Fate before,
            Fate after) {}

    @Schema(name = "SimulatedFate", description = "What happens to the workload within the simulation.")
    record Fate(
            @Schema(description = "When it starts. Absent if it runs already or does not start.") @Nullable
            Instant startsAt,

            @Nullable String pool,

            @Schema(description = "When the scheduler asks it to stop. Absent if it does not.") @Nullable
            Instant stopsAt,

            @Nullable StopCause stopCause,

            @Schema(ref = "WaitReasonCode") @Nullable String reason) {}

    @Schema(name = "SimulatedPool")
    record PoolUse(
            String pool,
            Use before,
            Use after,

            @Schema(
                    description =
                            "Whether other tenants hold GPUs of it after the change. Only in responses to tenants.")
            @Nullable
            Boolean heldByOthers) {}

    @Schema(
            name = "SimulatedUse",
            description = "The use of a pool: in responses to tenants that of the tenant, to operators that of all.")
    record Use(
            @Schema(description = "The GPUs that are up. Only in responses to operators.") @Nullable
            GpuAmount capacity,

            GpuAmount reserved,

            @Schema(description = "The GPUs held after the plans of the first moment.")
            GpuAmount usedAtFirst,

            @Schema(description = "The GPUs held at the end of the simulation.")
            GpuAmount usedAtLast) {}
}
