package io.quartermaster.capacity.inventory;

import io.quartermaster.engine.model.Pool;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for pools. */
public final class PoolApi {

    private PoolApi() {}

    @Schema(name = "PoolRequest")
    record Request(
            @Schema(required = true, examples = "h100") @Nullable
            String name,

            @Schema(description = "pack (the default) fills nodes one by one; spread uses them evenly")
            Pool.@Nullable Placement placement,

            @Schema(description = "which work may share one GPU; tenant (the default): work of one tenant")
            Pool.@Nullable Sharing shareGpus,

            @Schema(description = "number of units of a pool without nodes; absent: the GPUs of its nodes") @Nullable
            GpuAmount capacity,

            @Schema(description = "whether the pool can grow") @Nullable
            Boolean elastic,

            @Schema(
                    description = "names of the levels of its nodes' topology, the widest first",
                    examples = "[\"zone\",\"rack\"]")
            @Nullable
            List<String> topologyLevels,

            @Schema(
                    description =
                            "names of the profiles whose work goes first in this pool, in order, whichever tenant "
                                    + "has them; other profiles come after them; absent: no order",
                    examples = "[\"large\",\"small\"]")
            @Nullable
            List<String> profileOrder,

            @Schema(description = "absent: always open") @Nullable
            PoolHours hours,

            @Schema(
                    description = "how long a workload must wait before the leader preempts running work for "
                            + "it, so that an elastic pool has time to grow; at most P7D; absent: PT0S",
                    examples = "PT2M")
            @Nullable
            Duration waitBeforePreempting,

            @Schema(
                    description = "the longest that stopped work keeps its devices, even if the grace of its "
                            + "policy is longer; PT0S to PT1H; absent: PT5M",
                    examples = "PT5M")
            @Nullable
            Duration maxGrace,

            @Schema(
                    description = "whether its tenants trust each other. If so, nodes that do not isolate "
                            + "tenants (isolation none or os-user) may serve several of them. The work of "
                            + "one tenant can then see, disturb and stop that of another. Use it for "
                            + "demonstrations, or for tenants of one organization; absent: false")
            @Nullable
            Boolean tenantsTrustEachOther) {

        Settings settings() {
            return new Settings(
                    placement == null ? Pool.Placement.PACK : placement,
                    shareGpus == null ? Pool.Sharing.TENANT : shareGpus,
                    capacity,
                    elastic != null && elastic,
                    topologyLevels == null ? List.of() : topologyLevels,
                    profileOrder == null ? List.of() : profileOrder,
                    PoolHours.normalize(hours),
                    waitBeforePreempting == null ? Duration.ZERO : waitBeforePreempting,
                    maxGrace == null ? Settings.DEFAULT_MAX_GRACE : maxGrace,
                    tenantsTrustEachOther != null && tenantsTrustEachOther);
        }
    }

    @Schema(name = "PoolPatch", description = "An absent field stays unchanged; null returns a field to its default.")
    record Patch(
            @Schema(description = "How work is placed on the nodes of the pool; null returns to pack.")
            Pool.@Nullable Placement placement,

            @Schema(description = "Whose work may share one GPU; null returns to tenant.")
            Pool.@Nullable Sharing shareGpus,

            @Schema(
                    description =
                            "Number of units in a pool without nodes. Null makes the pool a pool of nodes, which is "
                                    + "refused while work holds a part of the count.")
            @Nullable
            GpuAmount capacity,

            @Schema(description = "Whether the pool can grow; null returns to false.") @Nullable
            Boolean elastic,

            @Schema(
                    description =
                            "Names of the levels of the topology of its nodes, the widest first; null removes them.")
            @Nullable
            List<String> topologyLevels,

            @Schema(description = "Names of the profiles whose work goes first, in order; null removes them.") @Nullable
            List<String> profileOrder,

            @Schema(description = "When the pool is open; null returns to always.") @Nullable
            PoolHours hours,

            @Schema(
                    description = "How long a workload waits in this pool before running work is stopped for it; null "
                            + "returns to PT0S.")
            @Nullable
            Duration waitBeforePreempting,

            @Schema(description = "The longest that stopped work keeps its GPUs; null returns to PT5M.") @Nullable
            Duration maxGrace,

            @Schema(
                    description = "`true`: nodes of the pool may run work of several tenants without isolation; "
                            + "null returns to false.")
            @Nullable
            Boolean tenantsTrustEachOther) {

        static Patch of(Settings now) {
            return new Patch(
                    now.placement(),
                    now.shareGpus(),
                    now.capacity(),
                    now.elastic(),
                    now.topologyLevels(),
                    now.profileOrder(),
                    now.hours(),
                    now.waitBeforePreempting(),
                    now.maxGrace(),
                    now.tenantsTrustEachOther());
        }

        /** A null field takes its default. */
        Settings settings() {
            return new Request(
                            null,
                            placement,
                            shareGpus,
                            capacity,
                            elastic,
                            topologyLevels,
                            profileOrder,
                            hours,
                            waitBeforePreempting,
                            maxGrace,
                            tenantsTrustEachOther)
                    .settings();
        }
    }

    /** The settings of a pool. */
    record Settings(
            Pool.Placement placement,
            Pool.Sharing shareGpus,
            @Nullable GpuAmount capacity,
            boolean elastic,
            List<String> topologyLevels,
            List<String> profileOrder,
            @Nullable PoolHours hours,
            Duration waitBeforePreempting,
            Duration maxGrace,
            boolean tenantsTrustEachOther) {

        static final Duration MAX_WAIT = Duration.ofDays(7);
        static final Duration DEFAULT_MAX_GRACE = Duration.ofMinutes(5);
        /** The longest grace of any policy. */
        static final Duration MAX_GRACE_LIMIT = Duration.ofHours(1);

        void check(ProblemException.Invalid problems) {
            problems.check(
                    !waitBeforePreempting.isNegative() && waitBeforePreempting.compareTo(MAX_WAIT) <= 0,
                    "waitBeforePreempting",
                    "out of range",
                    "PT0S to P" + MAX_WAIT.toDays() + "D");
            problems.check(
                    !maxGrace.isNegative() && maxGrace.compareTo(MAX_GRACE_LIMIT) <= 0,
                    "maxGrace",
                    "out of range",
                    "PT0S to " + MAX_GRACE_LIMIT);
        }
    }

    @Schema(name = "Pool")
    public record View(
            UUID id,
            String name,
            Pool.Placement placement,
            Pool.Sharing shareGpus,
            @Nullable GpuAmount capacity,
            boolean elastic,
            List<String> topologyLevels,

            @Schema(description = "names of the profiles whose work goes first, in order")
            List<String> profileOrder,

            @Schema(description = "absent: always open") @Nullable
            PoolHours hours,

            @Schema(description = "how long a workload must wait before the leader preempts running work for it")
            Duration waitBeforePreempting,

            @Schema(description = "the longest that stopped work keeps its devices")
            Duration maxGrace,

            @Schema(
                    description = "whether its tenants trust each other. If so, nodes that do not "
                            + "isolate tenants (isolation"
                            + " none or os-user) may serve several of them. The work of one tenant can then see, "
                            + "disturb and stop that"
                            + " of another. Use it for demonstrations, or for tenants of one organization")
            boolean tenantsTrustEachOther,

            @Schema(description = "GPUs available now: the count, or the healthy GPUs of nodes in contact")
            GpuAmount up,

            @Schema(description = "sum of the reservations of all tenants in the pool; may exceed its capacity")
            GpuAmount reserved,

            @Schema(description = "number of nodes") int nodes,

            @Schema(description = "number of nodes in contact")
            int nodesUp,

            long version,
            Instant createdAt) {

        Settings settings() {
            return new Settings(
                    placement,
                    shareGpus,
                    capacity,
                    elastic,
                    topologyLevels,
                    profileOrder,
                    hours,
                    waitBeforePreempting,
                    maxGrace,
                    tenantsTrustEachOther);
        }
    }

    @Schema(name = "TenantPool", description = "A pool as a tenant sees it: its own figures only.")
    public record TenantView(
            String name,
            GpuAmount reserved,

            @Schema(description = "absent: the tenant has no limit of its own") @Nullable
            GpuAmount limit,

            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            int rank,

            @Schema(description = "the levels that a profile's topology may name, the widest first")
            List<String> topologyLevels,

            @Schema(
                    description = "the longest that stopped work keeps its devices, even if the grace of its "
                            + "policy is longer")
            Duration maxGrace,

            @Schema(description = "Absent: always open.") @Nullable
            PoolHours hours,

            @Schema(
                    description = "GPUs that the tenant's work uses once all preempted work has left. Absent if this "
                            + "replica cannot know it in time.")
            @Nullable
            GpuAmount used,

            @Schema(
                    description =
                            "The tenant's fair share at present; `GET /v1/tenants/{tenant}/share` explains it. Absent "
                                    + "if this replica cannot know it in time.")
            @Nullable
            GpuAmount fairShare,

            @Schema(
                    description =
                            "The kinds of GPUs of its nodes, in the order of their models; empty for a pool without "
                                    + "nodes.")
            List<GpuKind> gpus,

            @Schema(description = "The largest node: the one with the most GPUs. Absent for a pool without nodes.")
            @Nullable
            LargestNode largestNode,

            @Schema(description = "Whether no node of the pool takes new work: all are cordoned or out of contact.")
            boolean maintenance) {}

    /** A kind of GPU that nodes of a pool have. */
    @Schema(name = "GpuKind", description = "A kind of GPU that nodes of a pool have.")
    public record GpuKind(
            @Schema(examples = "NVIDIA H100 80GB HBM3") String model,

            @Schema(description = "Memory of one GPU in MiB.")
            long memoryMiB,

            @Schema(description = "Whether GPUs of this kind are divided into MIG instances.")
            boolean mig) {}

    /** The size of a node. */
    @Schema(name = "LargestNode", description = "The size of the largest node of a pool.")
    public record LargestNode(
            int gpus,

            @Schema(description = "Thousandths of processors; absent: unknown.") @Nullable
            Long cpuMilli,

            @Schema(description = "Memory in MiB; absent: unknown.") @Nullable
            Long memoryMiB) {}

    /** The properties of a pool that its tenants may know beside their own figures. */
    public record Hardware(
            @Nullable PoolHours hours,
            List<GpuKind> gpus,
            @Nullable LargestNode largestNode,
            boolean maintenance) {}
}
