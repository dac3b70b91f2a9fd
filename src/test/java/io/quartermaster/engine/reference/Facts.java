package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.ProfileOrder;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/** The declared inputs, each in its latest version, with the decisions of earlier plans taken as done. */
final class Facts {
    final SortedMap<PoolId, Pool> pools = new TreeMap<>();
    final SortedMap<NodeId, Node> nodes = new TreeMap<>();
    final SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotas = new TreeMap<>();
    final SortedMap<QuotaPath, ConcurrencyCaps> caps = new TreeMap<>();
    final SortedMap<QuotaPath, Change.AccountStatus> statuses = new TreeMap<>();
    final SortedMap<ProfileId, ProfileOrder> profiles = new TreeMap<>();
    final SortedMap<WorkloadId, Workload> workloads = new TreeMap<>();

    /** Applies a change, and returns whether it is an external event: more than the end of a victim. */
    boolean apply(Change change) {
        return switch (change) {
            case Change.WorkloadSet set -> put(set.workload());
            case Change.WorkloadRemoved removed -> workloads.remove(removed.workload()) != null;
            case Change.PoolSet set -> !set.pool().equals(pools.put(set.pool().id(), set.pool()));
            case Change.NodeSet set -> !set.node().equals(nodes.put(set.node().id(), set.node()));
            case Change.NodeRemoved removed -> nodes.remove(removed.node()) != null;
            case Change.QuotaSet set ->
                !set.quota()
                        .equals(quotas.computeIfAbsent(set.quota().scope(), scope -> new TreeMap<>())
                                .put(set.quota().path(), set.quota()));
            case Change.CapsSet set -> !set.caps().equals(caps.put(set.caps().path(), set.caps()));
            case Change.AccountStatusSet set -> set.status() != statuses.put(set.path(), set.status());
            case Change.ProfileSet set ->
                !set.profile().equals(profiles.put(set.profile().id(), set.profile()));
            default -> throw new IllegalArgumentException("the reference planner does not cover " + change);
        };
    }

    private boolean put(Workload workload) {
        Workload before = workloads.put(workload.id(), workload);
        boolean wasStopping = before != null
                && before.state() instanceof WorkloadPhase.Holding holding
                && !holding.phase().isStaying();
        return !workload.equals(before) && !wasStopping;
    }

    Workload workload(WorkloadId id) {
        return Objects.requireNonNull(workloads.get(id), id::value);
    }

    /** The status of a path: suspended if it or a path above it is, otherwise whether a budget is used up. */
    Change.AccountStatus status(QuotaPath path) {
        List<Change.AccountStatus> onPath = path.fromTenant().stream()
                .map(prefix -> statuses.getOrDefault(prefix, Change.AccountStatus.ACTIVE))
                .toList();
        for (Change.AccountStatus status :
                List.of(Change.AccountStatus.SUSPENDED, Change.AccountStatus.BUDGET_USED_UP)) {
            if (onPath.contains(status)) {
                return status;
            }
        }
        return Change.AccountStatus.ACTIVE;
    }
}
