package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Random cell of at most 6 nodes and 12 workloads for the comparison with the reference planner, with a shell that
 * carries out plans. Victims leave late, nodes go and come, and work on a lost node is reported after a while.
 */
final class ReferenceCell {
    private static final int MOST_NODES = 6;
    private static final int MOST_WORKLOADS = 12;
    private static final List<ProfileId> PROFILES = List.of(new ProfileId("p0"), new ProfileId("p1"));

    /** A feature that a cell may use. */
    enum Feature {
        PARTS,
        GANGS,
        DOMAINS,
        ELASTIC,
        SEVERAL_POOLS,
        ALL_POOLS_TREE,
        COUNTED_POOLS,
        LIMITS,
        LENDING,
        RANKS_AND_WEIGHTS,
        OVER_QUOTA_OFF,
        NON_PREEMPTIBLE,
        PRIORITIES,
        EVICTIONS,
        MOVES,
        GRACE,
        MIN_RUNTIME,
        NODES_CHANGE,
        QUOTAS_CHANGE,
        PROFILE_ORDERS,
        HOST_MEMORY,
        FENCES,
        SUSPENSIONS,
        PATIENCE,
        /** Work and nominations stay on a lost node until the next report. */
        LATE_LOSSES,
        /** Work uses the path of a group that states no quota, above groups that state one. */
        UNNAMED_ANCESTORS,
        /** Stopping work and withdrawn nominations stay on a lost node, where they take nothing from other work. */
        UNEVEN_LOSSES,
        /** Gangs of parts may share a GPU, or the memory of a node, with work that has not left yet. */
        GANGS_OF_PARTS_BESIDE_VICTIMS
    }

    final Settings settings;
    final SortedMap<WorkloadId, Workload> workloads = new TreeMap<>();
    long nowMillis;

    private final Random random;
    private final Set<Feature> features;
    private final SortedMap<PoolId, Pool> pools = new TreeMap<>();
    private final SortedMap<NodeId, Node> nodes = new TreeMap<>();
    private final List<Quota> quotas = new ArrayList<>();
    private final List<QuotaPath> paths = new ArrayList<>();
    private List<Change> pending = new ArrayList<>();
    private int submitted;

    /** @param allowed the features that may be used; the cell uses a random choice of them */
    ReferenceCell(long seed, Set<Feature> allowed) {
        random = new Random(seed);
        features = EnumSet.noneOf(Feature.class);
        int percent = 30 + random.nextInt(71);
        for (Feature feature : Feature.values()) {
            if (random.nextInt(100) < percent && allowed.contains(feature)) {
                features.add(feature);
            }
        }
        if (features.contains(Feature.LENDING) && !features.contains(Feature.UNEVEN_LOSSES)) {
            features.remove(Feature.LATE_LOSSES);
        }
        if (features.contains(Feature.PATIENCE)) {
            // The rules do not say which of two reservations keeps a free part of one GPU.
            features.remove(Feature.PARTS);
        }
        settings = randomSettings();
        randomPools();
        randomQuotas();
        pools.values().forEach(pool -> pending.add(new Change.PoolSet(pool)));
        nodes.values().forEach(node -> pending.add(new Change.NodeSet(node)));
        quotas.forEach(quota -> pending.add(new Change.QuotaSet(quota)));
    }

    Set<Feature> features() {
        return features;
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private boolean chance(Feature feature, int oneIn) {
        return chance(oneIn) && features.contains(feature);
    }

    private Settings randomSettings() {
        boolean evicts = features.contains(Feature.EVICTIONS);
        return Settings.DEFAULT.toBuilder()
                .graceMillis(features.contains(Feature.GRACE) ? 4_000 : 0)
                .minRuntimeMillis(chance(Feature.MIN_RUNTIME, 2) ? 3_000 : 0)
                .reclaimMinRuntimeMillis(chance(Feature.MIN_RUNTIME, 2) ? 5_000 : 0)
                .spill(chance(2) ? Settings.Spill.BEFORE_PREEMPTING : Settings.Spill.AFTER_PREEMPTING)
                .borrow(chance(3) ? Settings.Borrow.AFTER_RECLAIMING : Settings.Borrow.BEFORE_RECLAIMING)
                .patienceMillis(
                        features.contains(Feature.PATIENCE)
                                ? OptionalLong.of(1_000L * random.nextInt(6))
                                : OptionalLong.empty())
                .consolidate(features.contains(Feature.MOVES))
                .reclaim(
                        !evicts
                                ? Settings.Reclaim.NONE
                                : chance(4) ? Settings.Reclaim.RESERVED : Settings.Reclaim.FAIR_SHARE)
                .moveSearches(chance(4) ? 1 + random.nextInt(3) : Settings.DEFAULT_MOVE_SEARCHES)
                .settings();
    }

    private void randomPools() {
        int count = features.contains(Feature.SEVERAL_POOLS) ? 2 : 1;
        for (int p = 0; p < count; p++) {
            PoolId id = new PoolId("pool" + p);
            Pool plain = chance(Feature.COUNTED_POOLS, 4)
                    ? Pool.ofCount(id, 1000L * (2 + random.nextInt(10)))
                    : Pool.ofNodes(id);
            Pool pool = new Pool(
                    id,
                    plain.capacity(),
                    chance(3) ? Pool.Placement.SPREAD : Pool.Placement.PACK,
                    chance(6) ? Pool.Sharing.NONE : chance(4) ? Pool.Sharing.ANY : Pool.Sharing.TENANT,
                    chance(Feature.PROFILE_ORDERS, 2) ? List.of(PROFILES.getLast()) : List.of(),
                    List.of("rack"),
                    true);
            pool = chance(Feature.MIN_RUNTIME, 4) ? pool.waitingBeforePreempting(2_000) : pool;
            pools.put(id, pool);
            if (pool.capacity() instanceof Pool.Capacity.Nodes) {
                int nodeCount = 1 + random.nextInt(MOST_NODES / count);
                int gpus = 1 + random.nextInt(4);
                for (int n = 0; n < nodeCount; n++) {
                    put(id, "n" + p + n, chance(4) ? 1 + random.nextInt(4) : gpus, "rack" + n / 2);
                }
            }
        }
    }

    private void put(PoolId pool, String name, int gpus, String rack) {
        List<Node.Device> devices = new ArrayList<>();
        long memory = chance(4) ? 40_960 : 81_920;
        for (int index = 0; index < gpus; index++) {
            devices.add(new Node.Device(index, "H100", memory, false));
        }
        Node node = new Node(
                new NodeId(name),
                pool,
                true,
                true,
                devices,
                OptionalLong.empty(),
                features.contains(Feature.HOST_MEMORY) ? OptionalLong.of(8L * gpus) : OptionalLong.empty(),
                Collections.emptySortedMap(),
                List.of(rack));
        nodes.put(node.id(), chance(Feature.NODES_CHANGE, 12) ? node.onlyFor("t0") : node);
    }

    private void randomQuotas() {
        int tenants = 1 + random.nextInt(3);
        for (int t = 0; t < tenants; t++) {
            int groups = random.nextInt(4);
            for (int g = 0; g < groups; g++) {
                paths.add(QuotaPath.of("t" + t, "g" + g));
                if (chance(8)) {
                    paths.add(QuotaPath.of("t" + t, "g" + g, "h"));
                }
            }
            if (groups == 0 || chance(4)) {
                paths.add(QuotaPath.of("t" + t));
            }
        }
        for (PoolId pool : pools.keySet()) {
            if (!chance(8)) {
                randomQuotas(Scope.of(pool));
            }
        }
        if (chance(Feature.ALL_POOLS_TREE, 2)) {
            randomQuotas(Scope.ALL_POOLS);
        }
    }

    private void randomQuotas(Scope scope) {
        SortedSet<QuotaPath> all = new TreeSet<>();
        paths.forEach(path -> all.addAll(path.fromTenant()));
        long sequence = 0;
        for (QuotaPath path : all) {
            boolean hasGroups = all.stream().anyMatch(other -> !other.equals(path) && path.covers(other));
            if (!chance(25) || hasGroups && !features.contains(Feature.UNNAMED_ANCESTORS)) {
                quotas.add(randomQuota(path, scope, chance(3) ? 0 : sequence++));
            }
        }
    }

    private Quota randomQuota(QuotaPath path, Scope scope, long sequence) {
        long reserved = chance(4) ? 500L * random.nextInt(8) : 1000L * random.nextInt(5);
        if (path.segments().size() == 1) {
            reserved *= 2;
        }
        Quota quota = new Quota(
                path,
                scope,
                reserved,
                chance(Feature.LIMITS, 4)
                        ? OptionalLong.of(reserved + 1000L * random.nextInt(5))
                        : OptionalLong.empty(),
                chance(Feature.RANKS_AND_WEIGHTS, 2)
                        ? OptionalLong.of(1000L * random.nextInt(4))
                        : OptionalLong.empty(),
                chance(Feature.LENDING, 3)
                        ? OptionalLong.of(500L * random.nextInt((int) (reserved / 500) + 1))
                        : OptionalLong.empty(),
                chance(Feature.RANKS_AND_WEIGHTS, 3) ? random.nextInt(3) : 0,
                !chance(Feature.OVER_QUOTA_OFF, 4),
                sequence);
        return chance(Feature.FENCES, 6) ? quota.fenced() : quota;
    }

    /** The changes since the last call. */
    List<Change> takeChanges() {
        List<Change> changes = pending;
        pending = new ArrayList<>();
        return changes;
    }

    /** An event: mostly a submission, sometimes an end, a node that goes or comes, or a changed quota. */
    void happen() {
        nowMillis += random.nextInt(3) * 1000L;
        switch (random.nextInt(14)) {
            case 0, 1, 2 -> endOne();
            case 3 -> {
                if (features.contains(Feature.NODES_CHANGE)) {
                    turnOneNode();
                }
            }
            case 4 -> {
                if (features.contains(Feature.QUOTAS_CHANGE) && !quotas.isEmpty()) {
                    Quota old = quotas.get(random.nextInt(quotas.size()));
                    Quota changed = randomQuota(old.path(), old.scope(), old.sequence());
                    quotas.set(quotas.indexOf(old), changed);
                    pending.add(new Change.QuotaSet(changed));
                }
            }
            case 5 -> {
                if (chance(Feature.SUSPENSIONS, 3)) {
                    QuotaPath path = paths.get(random.nextInt(paths.size()));
                    Change.AccountStatus[] statuses = Change.AccountStatus.values();
                    pending.add(new Change.AccountStatusSet(path, statuses[random.nextInt(statuses.length)]));
                }
            }
            default -> {
                int most = submitted == 0 ? 5 : 1 + random.nextInt(4);
                for (int i = 0; i < most && workloads.size() < MOST_WORKLOADS; i++) {
                    submit();
                }
            }
        }
        reportLosses();
        letVictimsLeave();
    }

    private void submit() {
        List<PoolId> order = new ArrayList<>(pools.keySet());
        Collections.shuffle(order, random);
        int id = submitted++;
        Workload plain = Workload.waiting(
                new WorkloadId("w" + id),
                paths.get(random.nextInt(paths.size())),
                randomShape(),
                chance(3) ? order.subList(0, 1) : order,
                nowMillis,
                id);
        set(new Workload(
                plain.id(),
                plain.path(),
                Optional.of("u" + random.nextInt(2)),
                chance(Feature.PROFILE_ORDERS, 2) ? Optional.of(PROFILES.get(random.nextInt(2))) : Optional.empty(),
                Optional.empty(),
                plain.shape(),
                plain.pools(),
                features.contains(Feature.PRIORITIES) ? 10 + 40 * random.nextInt(3) : plain.priority(),
                !chance(Feature.NON_PREEMPTIBLE, 4),
                chance(Feature.OVER_QUOTA_OFF, 10),
                false,
                plain.submittedMillis(),
                plain.sequence(),
                chance(Feature.PATIENCE, 2) ? OptionalLong.of(1_000L * (1 + random.nextInt(20))) : OptionalLong.empty(),
                false,
                plain.state(),
                plain.nomination()));
    }

    private Shape randomShape() {
        GpuRequest gpus = GpuRequest.whole(1 + random.nextInt(chance(5) ? 4 : 2));
        if (chance(Feature.PARTS, 2)) {
            gpus = switch (random.nextInt(5)) {
                case 0 -> new GpuRequest.Memory(1, 4_096L * (1 + random.nextInt(20)));
                case 1 -> new GpuRequest.Fraction(2, 250 * (1 + random.nextInt(3)));
                default -> new GpuRequest.Fraction(1, 100 * (1 + random.nextInt(9)));
            };
        }
        boolean mayBeGang = gpus instanceof GpuRequest.Whole || mayBeBesideVictims();
        int workers = mayBeGang && chance(Feature.GANGS, 3) ? 2 + random.nextInt(2) : 1;
        int least = workers;
        if (chance(Feature.ELASTIC, 3)) {
            workers += 1 + random.nextInt(2);
        }
        boolean isTogether = workers > 1 && chance(Feature.DOMAINS, 2);
        return Shape.ofWorkers(workers, gpus)
                .minWorkers(least)
                .memoryMiB(
                        features.contains(Feature.HOST_MEMORY) && (least == 1 || mayBeBesideVictims())
                                ? 2L * random.nextInt(6)
                                : 0)
                .requiredLevel(isTogether && chance(2) ? Optional.of("rack") : Optional.empty())
                .preferredLevel(isTogether ? Optional.of("rack") : Optional.empty())
                .shape();
    }

    /** Whether gangs may share GPUs or memory of a node with victims that have not left yet. */
    private boolean mayBeBesideVictims() {
        boolean hasVictims = features.contains(Feature.PRIORITIES)
                || features.contains(Feature.EVICTIONS)
                || features.contains(Feature.MOVES);
        return !hasVictims || features.contains(Feature.GANGS_OF_PARTS_BESIDE_VICTIMS);
    }

    private void endOne() {
        if (!workloads.isEmpty()) {
            List<WorkloadId> ids = List.copyOf(workloads.keySet());
            WorkloadId id = ids.get(random.nextInt(ids.size()));
            workloads.remove(id);
            pending.add(new Change.WorkloadRemoved(id));
        }
    }

    private void turnOneNode() {
        if (!nodes.isEmpty()) {
            Node node = List.copyOf(nodes.values()).get(random.nextInt(nodes.size()));
            Node turned = chance(3)
                    ? node.withSchedulable(!node.schedulable())
                    : node.up() ? node.down() : node.upAndSchedulable();
            nodes.put(turned.id(), turned);
            pending.add(new Change.NodeSet(turned));
        }
    }

    /** Work on a node that is down waits again, sooner or later. */
    private void reportLosses() {
        for (Workload workload : List.copyOf(workloads.values())) {
            Optional<Allocation> place = workload.nomination();
            if (place.isPresent() && isOnLostNode(place.get()) && !features.contains(Feature.LATE_LOSSES)) {
                set(workload.withNomination(Optional.empty()));
            }
            if (workload.state() instanceof WorkloadPhase.Holding holding
                    && isOnLostNode(holding.allocation())
                    && reports(holding)) {
                set(workload.withState(WorkloadPhase.waiting()).withNomination(Optional.empty()));
            }
        }
    }

    private boolean reports(WorkloadPhase.Holding holding) {
        return chance(2)
                || !features.contains(Feature.LATE_LOSSES)
                || !holding.phase().isStaying() && !features.contains(Feature.UNEVEN_LOSSES);
    }

    private boolean isOnLostNode(Allocation allocation) {
        return nodes.values().stream().anyMatch(node -> !node.up() && allocation.touches(node.id()));
    }

    /** Victims leave at their deadline or a little later, some earlier. */
    void letVictimsLeave() {
        for (Workload workload : List.copyOf(workloads.values())) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                switch (holding.phase()) {
                    case WorkloadPhase.Phase.Running running -> {}
                    case WorkloadPhase.Phase.Incomplete incomplete -> {}
                    case WorkloadPhase.Phase.Stopping stopping -> {
                        if (leaves(stopping.deadlineMillis())
                                || !features.contains(Feature.UNEVEN_LOSSES) && isOnLostNode(holding.allocation())) {
                            set(workload.withState(WorkloadPhase.waitingAgain(nowMillis)));
                        }
                    }
                    case WorkloadPhase.Phase.Shrinking shrinking -> {
                        if (leaves(shrinking.deadlineMillis())) {
                            set(workload.withState(
                                    holding.without(shrinking.workers(), new WorkloadPhase.Phase.Running())));
                        }
                    }
                }
            }
        }
    }

    private boolean leaves(long deadlineMillis) {
        return deadlineMillis <= nowMillis ? !chance(3) : chance(5);
    }

    private void set(Workload workload) {
        workloads.put(workload.id(), workload);
        pending.add(new Change.WorkloadSet(workload));
    }

    /** Stores the decisions, as the shell does; the stored workloads become changes. */
    void carryOut(List<Decision> decisions) {
        SortedSet<WorkloadId> changed = new TreeSet<>();
        for (Decision decision : decisions) {
            Workload workload = workload(decision.workload());
            changed.add(workload.id());
            workloads.put(
                    workload.id(),
                    switch (decision) {
                        case Decision.Start start ->
                            workload.withState(WorkloadPhase.running(
                                            start.allocation(), nowMillis, start.fromReservation()))
                                    .withNomination(Optional.empty());
                        case Decision.Grow grow ->
                            workload.withState(holding(workload).with(grow.added(), workload.shape()))
                                    .withNomination(Optional.empty());
                        case Decision.Evict evict ->
                            workload.withState(holding(workload)
                                    .in(new WorkloadPhase.Phase.Stopping(evict.cause(), evict.deadlineMillis())));
                        case Decision.Shrink shrink -> workload.withState(shrunk(workload, shrink));
                        case Decision.Nominate nominate -> workload.withNomination(Optional.of(nominate.place()));
                        case Decision.WithdrawNomination withdrawn -> workload.withNomination(Optional.empty());
                    });
        }
        changed.forEach(id -> set(workload(id)));
    }

    private Workload workload(WorkloadId id) {
        return Objects.requireNonNull(workloads.get(id), id::value);
    }

    private static WorkloadPhase.Holding holding(Workload workload) {
        return (WorkloadPhase.Holding) workload.state();
    }

    private static WorkloadPhase shrunk(Workload workload, Decision.Shrink shrink) {
        SortedSet<Integer> workers = new TreeSet<>(shrink.workers());
        workers.addAll(Holdings.leaving(holding(workload)));
        return holding(workload)
                .in(new WorkloadPhase.Phase.Shrinking(shrink.cause(), workers, shrink.deadlineMillis()));
    }

    /** The state of the cell in words, to understand a disagreement. */
    String describe() {
        StringBuilder text = new StringBuilder("at " + nowMillis + " " + features + "\n  " + settings);
        pools.values().forEach(pool -> text.append("\n  ").append(pool));
        nodes.values().forEach(node -> text.append("\n  ")
                .append(node.id())
                .append(" in ")
                .append(node.pool())
                .append(node.up() ? "" : " DOWN")
                .append(node.schedulable() ? "" : " CORDONED")
                .append(" gpus ")
                .append(node.devices().size())
                .append(" of ")
                .append(node.devices().isEmpty() ? 0 : node.devices().getFirst().memoryMiB())
                .append(" memory ")
                .append(node.memoryMiB())
                .append(' ')
                .append(node.topology())
                .append(node.onlyTenant()));
        quotas.forEach(quota -> text.append("\n  quota ")
                .append(quota.scope())
                .append(' ')
                .append(quota.path())
                .append(" R ")
                .append(quota.reservedGpuMilli())
                .append(" L ")
                .append(quota.limitGpuMilli())
                .append(" w ")
                .append(quota.weightMilli())
                .append(" lend ")
                .append(quota.lendableGpuMilli())
                .append(" rank ")
                .append(quota.rank())
                .append(" over ")
                .append(quota.overQuota())
                .append(" seq ")
                .append(quota.sequence())
                .append(quota.fence() ? " FENCED" : ""));
        workloads.values().forEach(workload -> text.append("\n  ")
                .append(workload.id())
                .append(' ')
                .append(workload.path())
                .append(" prio ")
                .append(workload.priority())
                .append(workload.preemptible() ? "" : " NON-PREEMPTIBLE")
                .append(workload.dedicatedOnly() ? " DEDICATED" : "")
                .append(' ')
                .append(workload.pools())
                .append(' ')
                .append(workload.shape().workers())
                .append('/')
                .append(workload.shape().minWorkers())
                .append(" x ")
                .append(workload.shape().gpus())
                .append(" mem ")
                .append(workload.shape().memoryMiB())
                .append(workload.shape().requiredLevel())
                .append(workload.shape().preferredLevel())
                .append(workload.profile())
                .append("\n     ")
                .append(workload.state())
                .append("\n     nominated ")
                .append(workload.nomination()));
        return text.toString();
    }
}
