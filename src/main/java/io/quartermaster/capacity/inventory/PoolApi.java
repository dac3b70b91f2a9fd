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

/** Pools as the API speaks of them. */
public final class PoolApi {

    private PoolApi() {}

    @Schema(name = "PoolRequest")
    record Request(
            @Schema(required = true, examples = "h100") @Nullable
            String name,

            @Schema(description = "fill nodes up (the default) or keep them evenly empty")
            Pool.@Nullable Placement placement,

            @Schema(
                    description =
                            "who may hold fractions of one GPU together; tenant (the default): work of one tenant")
            Pool.@Nullable Sharing shareGpus,

            @Schema(description = "makes it a plain count without nodes; absent: what its nodes add up to") @Nullable
            GpuAmount capacity,

            @Schema(description = "whether it can grow") @Nullable
            Boolean elastic,

            @Schema(
                    description = "names of the levels of its nodes' topology, the widest first",
                    examples = "[\"zone\",\"rack\"]")
            @Nullable
            List<String> topologyLevels,

            @Schema(description = "absent: always open") @Nullable
            PoolHours hours,

            @Schema(
                    description =
                            "nothing that runs in it is stopped for work that has waited less, so that an elastic pool has a chance to grow; at most P7D; absent: PT0S",
                    examples = "PT2M")
            @Nullable
            Duration waitBeforePreempting,

            @Schema(
                    description =
                            "work that is stopped in it keeps its devices for at most this long, whatever its policy says; PT0S to PT1H; absent: PT5M",
                    examples = "PT5M")
            @Nullable
            Duration maxGrace,

            @Schema(
                    description =
                            "the operator states that its tenants trust each other: nodes whose agent does not keep tenants apart (isolation"
                                    + " none or os-user) may then serve several of them, whose work can see, disturb and stop each"
                                    + " other's; for demonstrations and tenants of one house; absent: false")
            @Nullable
            Boolean tenantsTrustEachOther) {

        Settings settings() {
            return new Settings(
                    placement == null ? Pool.Placement.PACK : placement,
                    shareGpus == null ? Pool.Sharing.TENANT : shareGpus,
                    capacity,
                    elastic != null && elastic,
                    topologyLevels == null ? List.of() : topologyLevels,
                    PoolHours.normal(hours),
                    waitBeforePreempting == null ? Duration.ZERO : waitBeforePreempting,
                    maxGrace == null ? Settings.DEFAULT_MAX_GRACE : maxGrace,
                    tenantsTrustEachOther != null && tenantsTrustEachOther);
        }
    }

    @Schema(name = "PoolPatch", description = "What is absent stays as it is; null returns a field to its default.")
    record Patch(
            @Schema(description = "How work is placed on the nodes of the pool; null returns to pack.")
            Pool.@Nullable Placement placement,

            @Schema(description = "Whose work may share one GPU; null returns to tenant.")
            Pool.@Nullable Sharing shareGpus,

            @Schema(
                    description =
                            "Number of units in a pool without nodes. Null makes it a pool of nodes, which is refused while work holds a part of the count.")
            @Nullable
            GpuAmount capacity,

            @Schema(description = "Whether the pool can grow; null returns to false.") @Nullable
            Boolean elastic,

            @Schema(
                    description =
                            "Names of the levels of the topology of its nodes, the widest first; null removes them.")
            @Nullable
            List<String> topologyLevels,

            @Schema(description = "When the pool is open; null returns to always.") @Nullable
            PoolHours hours,

            @Schema(
                    description =
                            "How long a workload waits in this pool before running work is stopped for it; null returns to PT0S.")
            @Nullable
            Duration waitBeforePreempting,

            @Schema(description = "The longest that stopped work keeps its GPUs; null returns to PT5M.") @Nullable
            Duration maxGrace,

            @Schema(
                    description =
                            "`true`: nodes of the pool may run work of several tenants without keeping it apart; null returns to false.")
            @Nullable
            Boolean tenantsTrustEachOther) {

        static Patch of(Settings now) {
            return new Patch(
                    now.placement(),
                    now.shareGpus(),
                    now.capacity(),
                    now.elastic(),
                    now.topologyLevels(),
                    now.hours(),
                    now.waitBeforePreempting(),
                    now.maxGrace(),
                    now.tenantsTrustEachOther());
        }

        /** What is null here has its default. */
        Settings settings() {
            return new Request(
                            null,
                            placement,
                            shareGpus,
                            capacity,
                            elastic,
                            topologyLevels,
                            hours,
                            waitBeforePreempting,
                            maxGrace,
                            tenantsTrustEachOther)
                    .settings();
        }
    }

    /** What can be set of a pool. */
    record Settings(
            Pool.Placement placement,
            Pool.Sharing shareGpus,
            @Nullable GpuAmount capacity,
            boolean elastic,
            List<String> topologyLevels,
            @Nullable PoolHours hours,
            Duration waitBeforePreempting,
            Duration maxGrace,
            boolean tenantsTrustEachOther) {

        static final Duration LONGEST_WAIT = Duration.ofDays(7);
        static final Duration DEFAULT_MAX_GRACE = Duration.ofMinutes(5);
        /** As long as any policy's grace. */
        static final Duration LONGEST_GRACE = Duration.ofHours(1);

        void check(ProblemException.Invalid problems) {
            problems.check(
                    !waitBeforePreempting.isNegative() && waitBeforePreempting.compareTo(LONGEST_WAIT) <= 0,
                    "waitBeforePreempting",
                    "out of range",
                    "PT0S to P" + LONGEST_WAIT.toDays() + "D");
            problems.check(
                    !maxGrace.isNegative() && maxGrace.compareTo(LONGEST_GRACE) <= 0,
                    "maxGrace",
                    "out of range",
                    "PT0S to " + LONGEST_GRACE);
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

            @Schema(description = "absent: always open") @Nullable
            PoolHours hours,

            @Schema(description = "nothing that runs in it is stopped for work that has waited less")
            Duration waitBeforePreempting,

            @Schema(description = "work that is stopped in it keeps its devices for at most this long")
            Duration maxGrace,

            @Schema(
                    description =
                            "the operator states that its tenants trust each other: nodes whose agent does not keep tenants apart (isolation"
                                    + " none or os-user) may then serve several of them, whose work can see, disturb and stop each"
                                    + " other's; for demonstrations and tenants of one house")
            boolean tenantsTrustEachOther,

            @Schema(
                    description =
                            "GPUs that are there now: the count, or the healthy GPUs of nodes that are heard from")
            GpuAmount up,

            @Schema(description = "sum of what is reserved in it over all tenants; may be more than there is")
            GpuAmount reserved,

            @Schema(description = "nodes in it") int nodes,

            @Schema(description = "nodes of it that are heard from")
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

            @Schema(description = "absent: no limit of the tenant's own") @Nullable
            GpuAmount limit,

            @Nullable Integer weight,
            @Nullable GpuAmount lendable,
            int rank,

            @Schema(description = "what a profile's topology may name, the widest first")
            List<String> topologyLevels,

            @Schema(
                    description =
                            "work that is stopped in it keeps its devices for at most this long, whatever its policy says")
            Duration maxGrace) {}
}
