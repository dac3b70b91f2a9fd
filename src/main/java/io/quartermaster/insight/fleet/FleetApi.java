package io.quartermaster.insight.fleet;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.WorkloadType;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The work of all tenants in the API of the operator. */
final class FleetApi {

    private FleetApi() {}

    /** A node with what holds its GPUs. */
    @Schema(name = "FleetNode", description = "A node with its GPUs and the work that holds them.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Node(
            @Schema(description = "Name of the node.") String node,
            @Schema(description = "Name of the cluster.") String cluster,
            @Schema(description = "Name of the pool.") String pool,

            @Schema(description = "Whether new work may start on it.")
            boolean schedulable,

            @Schema(description = "Whether its agent holds its lease now.")
            boolean up,

            @Schema(description = "Its GPUs in the order of their indexes.")
            List<Gpu> gpus,

            @Schema(description = "Workers on the node that hold no GPU.")
            List<Holder> withoutGpu) {}

    @Schema(name = "FleetGpu", description = "A GPU with the work that holds it, or parts of it.")
    record Gpu(
            @Schema(description = "Its index on the node.") int index,
            @Schema(description = "Its model.") String model,
            @Schema(description = "Its memory.") long memoryMiB,

            @Schema(description = "Whether MIG is on.") boolean mig,

            @Schema(description = "Whether the agent reports it as healthy.")
            boolean healthy,

            @Schema(description = "The part of it that no work holds.")
            GpuAmount free,

            @Schema(description = "The workers that hold it, or parts of it.")
            List<Holder> holders) {}

    /** A worker of a workload that holds devices of a node. */
    @Schema(name = "FleetHolder", description = "A worker that holds devices of a node.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Holder(
            @Schema(description = "Id of the tenant.") TenantId tenant,
            @Schema(description = "Id of the workload.") UUID workload,
            @Schema(description = "Name of the workload.") String name,
            @Schema(description = "Path of the group.") String group,
            @Schema(description = "Number of the attempt.") int attempt,

            @Schema(description = "Number of the worker, from 0.")
            int worker,

            @Schema(description = "What it holds of the GPU.")
            GpuAmount gpus,

            @Schema(description = "The profile of its MIG instance, if it has one.") @Nullable
            String mig,

            @Schema(ref = "WorkloadAttemptState") String state,

            @Schema(description = "Whether the scheduler may stop it for other work.")
            boolean preemptible,

            @Schema(description = "When its devices were bound.")
            Instant boundAt) {}

    /** A workload of any tenant. */
    @Schema(
            name = "FleetWorkload",
            description = "A workload of any tenant, without its command, environment, labels and output.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Workload(
            @Schema(description = "Id of the workload.") UUID id,
            @Schema(description = "Id of the tenant.") TenantId tenant,
            @Schema(description = "Name of the workload.") String name,
            WorkloadType type,
            @Schema(description = "Name of the queue.") String queue,
            @Schema(description = "Path of the group.") String group,
            String submittedBy,

            @Schema(description = "The pool that holds its devices, or the first pool of its profile while it waits.")
            @Nullable
            String pool,

            @Schema(description = "The GPUs that its workers hold now, together. Absent while it holds none.") @Nullable
            GpuAmount heldGpus,

            int priority,
            boolean preemptible,
            @Schema(ref = "WorkloadState") String state,

            @Schema(ref = "WaitReasonCode", description = "Why it waits; absent unless it waits.") @Nullable
            String reason,

            @Schema(description = "How many attempts it has had.")
            int attempts,

            Instant submittedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable String endReason) {}

    /** The work that waits for one reason. */
    @Schema(name = "WaitingWork", description = "The work of all tenants that waits for one reason.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record Waiting(
            @Schema(
                    ref = "WaitReasonCode",
                    description = "Absent for work that is held, and for work that no plan has tried yet.")
            @Nullable
            String reason,

            @Schema(description = "The number of workloads.")
            long workloads,

            @Schema(description = "When the oldest of them was submitted.")
            Instant oldestSubmittedAt,

            @Schema(description = "The tenants with the most of them, at most ten.")
            List<OfTenant> tenants) {}

    @Schema(name = "WaitingOfTenant", description = "The work of one tenant among that which waits for one reason.")
    record OfTenant(
            @Schema(description = "Id of the tenant.") TenantId tenant,

            @Schema(description = "The number of its workloads.")
            long workloads) {}

    @Schema(name = "WaitingWorkList", description = "What waits, by reason; the most frequent reason first.")
    record WaitingList(
            @Schema(description = "One entry per reason.") List<Waiting> items) {}
}
