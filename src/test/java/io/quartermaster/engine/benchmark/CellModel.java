package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Plain model of a cell: the use of each device, node and quota, summed up from the workloads. It knows nodes with
 * whole and partly used GPUs, and work at the leaves of quota trees; no MIG instances, no elastic work, and no quotas
 * over all pools.
 */
final class CellModel {

    /** A way to count what is held. */
    enum View {
        /** The use now, also by work that is stopping. */
        NOW,
        /** The use once all evicted work has left and all nominated work runs. */
        PROMISED
    }

    /** A workload's properties that decide whether another workload may replace it. */
    record Alike(
            QuotaPath path,
            Shape shape,
            List<PoolId> pools,
            boolean preemptible,
            boolean dedicatedOnly,
            OptionalLong maxRuntimeMillis) {
        static Alike of(Workload workload) {
            return new Alike(
                    workload.path(),
                    workload.shape(),
                    workload.pools(),
                    workload.preemptible(),
                    workload.dedicatedOnly(),
                    workload.maxRuntimeMillis());
        }
    }

    /** The use of one device, by view. */
    static final class DeviceUse {
        final int[] gpuMilli = new int[View.values().length];
        final List<Map<String, Integer>> partsByTenant = List.of(new HashMap<>(), new HashMap<>());
    }

    /** A node with what is held of it, by view. */
    static final class NodeUse {
        @Nullable
        Node node;

        final Map<Integer, DeviceUse> devices = new HashMap<>();
        final long[] cpuMilli = new long[View.values().length];
        final long[] memoryMiB = new long[View.values().length];
        long gpuMilliNow;

        DeviceUse device(int index) {
            return devices.computeIfAbsent(index, absent -> new DeviceUse());
        }

        boolean isUp() {
            return node != null && node.up();
        }
    }

    /** A quota with the use that counts against it, by view. The root has no quota, and the capacity as its limit. */
    static final class QuotaUse {
        final @Nullable Quota quota;
        final @Nullable QuotaUse parent;
        final long[] used = new long[View.values().length];
        final long[] nonPreemptible = new long[View.values().length];
        /** What it must keep idle, and what its children must. */
        long heldBack;

        long heldBackBelow;

        QuotaUse(@Nullable Quota quota, @Nullable QuotaUse parent) {
            this.quota = quota;
            this.parent = parent;
        }

        private void holdBack() {
            long own = quota == null
                    ? 0
                    : quota.reservedGpuMilli()
                            - quota.lendableGpuMilli().orElse(quota.reservedGpuMilli())
                            - used[View.PROMISED.ordinal()];
            long held = Math.max(heldBackBelow, own);
            if (parent != null) {
                parent.heldBackBelow += held - heldBack;
                heldBack = held;
                parent.holdBack();
            }
        }
    }

    private final Map<PoolId, Pool> pools = new HashMap<>();
    private final Map<NodeId, NodeUse> nodes = new HashMap<>();
    private final Map<Scope, Map<QuotaPath, Quota>> quotas = new HashMap<>();
    private final Map<Scope, Map<QuotaPath, QuotaUse>> trees = new HashMap<>();
    private final Map<WorkloadId, Workload> workloads = new HashMap<>();
    private final Map<Alike, TreeSet<Workload>> waiting = new HashMap<>();
    private boolean treesAreCurrent;

    /** The order of alike workloads: priority, work that was evicted, an admin's place, age. */
    static final Comparator<Workload> IN_TURN = Comparator.comparingInt((Workload workload) -> -workload.priority())
            .thenComparing(workload -> !isAtHead(workload))
            .thenComparingLong(CellModel::place)
            .thenComparingLong(Workload::submittedMillis)
            .thenComparingLong(Workload::sequence)
            .thenComparing(Workload::id);

    private static boolean isAtHead(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Waiting state
                && state.atHeadSinceMillis().isPresent();
    }

    private static long place(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Waiting state
                ? state.place().orElse(Long.MAX_VALUE)
                : Long.MAX_VALUE;
    }

    void apply(Collection<Change> changes) {
        for (Change change : changes) {
            switch (change) {
                case Change.PoolSet(Pool pool) -> pools.put(pool.id(), pool);
                case Change.PoolRemoved(PoolId pool) -> pools.remove(pool);
                case Change.NodeSet(Node node) -> node(node.id()).node = node;
                case Change.NodeRemoved(NodeId node) -> node(node).node = null;
                case Change.QuotaSet(Quota quota) -> {
                    if (quota.scope().equals(Scope.ALL_POOLS)) {
                        throw unknown(change);
                    }
                    quotas.computeIfAbsent(quota.scope(), absent -> new HashMap<>())
                            .put(quota.path(), quota);
                    treesAreCurrent = false;
                }
                case Change.QuotaRemoved(QuotaPath path, Scope scope) -> {
                    quotas.getOrDefault(scope, new HashMap<>()).remove(path);
                    treesAreCurrent = false;
                }
                case Change.WorkloadSet(Workload workload) -> put(workload);
                case Change.WorkloadRemoved(WorkloadId id) -> remove(id);
                case Change.BudgetSet budget -> {}
                case Change.BudgetRemoved budget -> {}
                case Change.QueueSet queue -> {}
                case Change.QueueRemoved queue -> {}
                case Change.ProfileSet profile -> {}
                case Change.ProfileRemoved profile -> {}
                case Change.PastUseSet past -> {}
                case Change.CapacityReservationSet set -> throw unknown(set);
                case Change.CapacityReservationRemoved removed -> throw unknown(removed);
                case Change.CapsSet caps -> throw unknown(caps);
                case Change.CapsRemoved caps -> throw unknown(caps);
                case Change.AccountStatusSet status -> throw unknown(status);
            }
        }
    }

    private static IllegalArgumentException unknown(Change change) {
        return new IllegalArgumentException("the model does not know " + change);
    }

    Optional<Workload> workload(WorkloadId id) {
        return Optional.ofNullable(workloads.get(id));
    }

    Collection<Workload> workloads() {
        return workloads.values();
    }

    Optional<Pool> pool(PoolId id) {
        return Optional.ofNullable(pools.get(id));
    }

    NodeUse node(NodeId id) {
        return nodes.computeIfAbsent(id, absent -> new NodeUse());
    }

    Collection<NodeUse> nodes() {
        return nodes.values();
    }

    /** The first of the waiting workloads that are alike and may start; empty if none waits. */
    Optional<Workload> firstAlike(Workload workload) {
        TreeSet<Workload> alike = waiting.get(Alike.of(workload));
        return alike == null || alike.isEmpty() ? Optional.empty() : Optional.of(alike.getFirst());
    }

    private static boolean isReady(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Waiting
                && !workload.held()
                && workload.nomination().isEmpty()
                && workload.pinnedNode().isEmpty();
    }

    /** Replaces a workload, with all that it holds. */
    void put(Workload workload) {
        remove(workload.id());
        workloads.put(workload.id(), workload);
        count(workload, 1);
        if (isReady(workload)) {
            waiting.computeIfAbsent(Alike.of(workload), absent -> new TreeSet<>(IN_TURN))
                    .add(workload);
        }
    }

    private void remove(WorkloadId id) {
        Workload before = workloads.remove(id);
        if (before != null) {
            count(before, -1);
            if (isReady(before)) {
                waiting.getOrDefault(Alike.of(before), new TreeSet<>(IN_TURN)).remove(before);
            }
        }
    }

    private void count(Workload workload, int sign) {
        if (workload.state() instanceof WorkloadPhase.Holding holding) {
            count(View.NOW, workload, holding.allocation(), sign);
            if (holding.phase().isStaying()) {
                count(View.PROMISED, workload, holding.allocation(), sign);
            }
        }
        workload.nomination().ifPresent(place -> count(View.PROMISED, workload, place, sign));
    }

    private void count(View view, Workload workload, Allocation allocation, int sign) {
        int at = view.ordinal();
        for (Allocation.Worker worker : allocation.workers()) {
            if (!(worker.place() instanceof Allocation.Place.OnNode place)) {
                throw new IllegalArgumentException("the model does not know places without nodes");
            }
            NodeUse node = node(place.node());
            node.cpuMilli[at] += sign * workload.shape().cpuMilli();
            node.memoryMiB[at] += sign * workload.shape().memoryMiB();
            node.gpuMilliNow += view == View.NOW ? sign * place.gpuMilli() : 0;
            for (Allocation.Share share : place.shares()) {
                DeviceUse device = node.device(share.device());
                device.gpuMilli[at] += sign * share.gpuMilli();
                device.partsByTenant
                        .get(at)
                        .merge(workload.path().tenant(), sign, (a, b) -> a + b == 0 ? null : Integer.valueOf(a + b));
            }
        }
        if (treesAreCurrent) {
            countQuotas(view, workload, allocation, sign);
        }
    }

    private void countQuotas(View view, Workload workload, Allocation allocation, int sign) {
        long gpuMilli = sign * allocation.gpuMilli();
        Optional<QuotaUse> leaf = leaf(workload, allocation.pool());
        for (QuotaUse each = leaf.orElse(null); each != null; each = each.parent) {
            each.used[view.ordinal()] += gpuMilli;
            each.nonPreemptible[view.ordinal()] += workload.preemptible() ? 0 : gpuMilli;
        }
        if (view == View.PROMISED) {
            leaf.ifPresent(QuotaUse::holdBack);
        }
    }

    /** The quota at which a workload in a pool counts. */
    Optional<QuotaUse> leaf(Workload workload, PoolId pool) {
        makeTreesCurrent();
        return Optional.ofNullable(trees.getOrDefault(Scope.of(pool), Map.of()).get(workload.path()));
    }

    private void makeTreesCurrent() {
        if (treesAreCurrent) {
            return;
        }
        treesAreCurrent = true;
        trees.clear();
        quotas.forEach((scope, byPath) -> {
            if (!byPath.isEmpty()) {
                QuotaUse root = new QuotaUse(null, null);
                Map<QuotaPath, QuotaUse> tree = new HashMap<>();
                trees.put(scope, tree);
                new TreeSet<>(byPath.keySet()).forEach(path -> {
                    QuotaUse parent = root;
                    for (QuotaPath above : path.fromTenant()) {
                        parent = tree.getOrDefault(above, parent);
                    }
                    QuotaUse use = new QuotaUse(byPath.get(path), parent);
                    tree.put(path, use);
                    use.holdBack();
                });
            }
        });
        for (Workload workload : workloads.values()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                countQuotas(View.NOW, workload, holding.allocation(), 1);
                if (holding.phase().isStaying()) {
                    countQuotas(View.PROMISED, workload, holding.allocation(), 1);
                }
            }
            workload.nomination().ifPresent(place -> countQuotas(View.PROMISED, workload, place, 1));
        }
    }

    /** The GPUs of the nodes that are up, in a pool, and what work still holds on its other nodes. */
    long capacityGpuMilli(PoolId pool) {
        long sum = 0;
        for (NodeUse each : nodes.values()) {
            Node node = each.node;
            if (node != null && node.pool().equals(pool)) {
                sum += node.up() ? node.devices().size() * 1_000L : each.gpuMilliNow;
            }
        }
        return sum;
    }
}
