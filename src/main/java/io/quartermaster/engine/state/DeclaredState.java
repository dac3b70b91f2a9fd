package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.ProfileOrder;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** The declared inputs of the engine, each as it was stated last, with the engine's own decisions applied. */
public final class DeclaredState {
    private final SortedMap<PoolId, Pool> pools = new TreeMap<>();
    private final SortedMap<NodeId, Node> nodes = new TreeMap<>();
    private final SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotas = new TreeMap<>();
    private final QuotaCalendar quotaCalendar = new QuotaCalendar();
    private final SortedMap<ProfileId, ProfileOrder> profileOrders = new TreeMap<>();
    private final SortedSet<QueueId> strictQueues = new TreeSet<>();
    private final SortedMap<QuotaPath, Change.AccountStatus> accountStatuses = new TreeMap<>();
    private final SortedMap<QuotaPath, ConcurrencyCaps> concurrencyCaps = new TreeMap<>();
    private WorkloadTable workloads = new WorkloadTable();
    private boolean poolsWaitBeforePreempting;

    public SortedMap<PoolId, Pool> pools() {
        return pools;
    }

    /** Whether some pool has work wait for a time before anything is evicted for it. */
    public boolean poolsWaitBeforePreempting() {
        return poolsWaitBeforePreempting;
    }

    private void updatePoolsWait() {
        poolsWaitBeforePreempting = pools.values().stream().anyMatch(pool -> pool.waitBeforePreemptingMillis() > 0);
    }

    /** The pools as they are at a moment. */
    Collection<Pool> poolsAt(long millis) {
        return quotaCalendar.anyHours()
                ? pools.values().stream().map(pool -> pool.at(millis)).toList()
                : pools.values();
    }

    public SortedMap<NodeId, Node> nodes() {
        return nodes;
    }

    /** The quota as it was stated, without the effects of the calendar. */
    public Optional<Quota> quota(QuotaPath path, Scope scope) {
        return Optional.ofNullable(quotas.getOrDefault(scope, new TreeMap<>()).get(path));
    }

    /**
     * The amount by which the quotas directly below a quota reserve more than the quota itself. It is 0 if they do not,
     * or if the path has no stated quota. A quota lies under the nearest path above it that has one.
     */
    public long reservedBeyond(QuotaPath path, Scope scope) {
        SortedMap<QuotaPath, Quota> stated = quotas.getOrDefault(scope, Collections.emptySortedMap());
        Quota above = stated.get(path);
        if (above == null) {
            return 0;
        }
        long below = 0;
        for (Quota each : stated.values()) {
            below += path.equals(nearestAbove(each.path(), stated)) ? each.reservedGpuMilli() : 0;
        }
        return Math.max(0, below - above.reservedGpuMilli());
    }

    private static @Nullable QuotaPath nearestAbove(QuotaPath path, SortedMap<QuotaPath, Quota> stated) {
        List<QuotaPath> upward = path.fromTenant().reversed();
        return upward.stream().skip(1).filter(stated::containsKey).findFirst().orElse(null);
    }

    /** The quotas at a moment, as stated and with the effects of the calendar. */
    SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotasAt(long millis) {
        return quotaCalendar.quotasAt(millis, quotas);
    }

    public QuotaCalendar calendar() {
        return quotaCalendar;
    }

    /** The queue of a workload if it is a {@code strict-fifo} queue. */
    Optional<QueueId> strictQueue(Workload workload) {
        return strictQueues.isEmpty() ? Optional.empty() : workload.queue().filter(strictQueues::contains);
    }

    public SortedMap<QuotaPath, ConcurrencyCaps> caps() {
        return concurrencyCaps;
    }

    /** In no particular order. */
    public WorkloadTable workloads() {
        return workloads;
    }

    /** The workloads in the order of their ids. */
    public List<Workload> workloadsInOrder() {
        List<Workload> inOrder = new ArrayList<>(workloads.size());
        workloads.forEach(inOrder::add);
        inOrder.sort(Comparator.comparing(Workload::id));
        return inOrder;
    }

    /** The workload with the id, which must be known. */
    public Workload workload(WorkloadId id) {
        Workload workload = workloads.get(id);
        if (workload == null) {
            throw new IllegalArgumentException("unknown workload " + id);
        }
        return workload;
    }

    public void put(Workload workload) {
        workloads.put(workload);
    }

    public Collection<ProfileOrder> profiles() {
        return profileOrders.values();
    }

    public Optional<ProfileOrder> profile(Optional<ProfileId> id) {
        return id.map(profileOrders::get);
    }

    /**
     * The status of a path and all paths above it: suspended if one of them is, otherwise whether a budget is used up.
     */
    public Change.AccountStatus accountStatus(QuotaPath path) {
        Change.AccountStatus found = Change.AccountStatus.ACTIVE;
        for (QuotaPath prefix : accountStatuses.isEmpty() ? List.<QuotaPath>of() : path.fromTenant()) {
            Change.AccountStatus here = accountStatuses.getOrDefault(prefix, Change.AccountStatus.ACTIVE);
            if (here == Change.AccountStatus.SUSPENDED) {
                return here;
            }
            found = here == Change.AccountStatus.ACTIVE ? found : here;
        }
        return found;
    }

    /** The topmost suspended path among the path and those above it; the path itself if none is suspended. */
    public QuotaPath suspendedPath(QuotaPath path) {
        return path.fromTenant().stream()
                .filter(prefix -> accountStatuses.get(prefix) == Change.AccountStatus.SUSPENDED)
                .findFirst()
                .orElse(path);
    }

    SortedSet<QuotaPath> paths() {
        SortedSet<QuotaPath> paths = new TreeSet<>();
        workloads.forEach(workload -> paths.add(workload.path()));
        return paths;
    }

    /** Applies a change of anything but a workload. Returns whether the state changed. */
    public boolean apply(Change change) {
        return switch (change) {
            case Change.PoolSet set -> setPool(set.pool());
            case Change.PoolRemoved removed -> removePool(removed.pool());
            case Change.NodeSet set -> !set.node().equals(nodes.put(set.node().id(), set.node()));
            case Change.NodeRemoved removed -> nodes.remove(removed.node()) != null;
            case Change.QuotaSet set -> setQuota(set.quota());
            case Change.QuotaRemoved removed -> removeQuota(removed.path(), removed.scope());
            case Change.CapacityReservationSet set -> quotaCalendar.setReservation(set.reservation());
            case Change.CapacityReservationRemoved removed -> quotaCalendar.removeReservation(removed.id());
            case Change.ProfileSet set ->
                !set.profile().equals(profileOrders.put(set.profile().id(), set.profile()));
            case Change.ProfileRemoved removed -> profileOrders.remove(removed.profile()) != null;
            case Change.QueueSet set ->
                set.order() == QueueOrder.STRICT_FIFO
                        ? strictQueues.add(set.queue())
                        : strictQueues.remove(set.queue());
            case Change.QueueRemoved removed -> strictQueues.remove(removed.queue());
            case Change.AccountStatusSet set -> setAccountStatus(set.path(), set.status());
            case Change.CapsSet set ->
                !set.caps().equals(concurrencyCaps.put(set.caps().path(), set.caps()));
            case Change.CapsRemoved removed -> concurrencyCaps.remove(removed.path()) != null;
            case Change.BudgetSet set -> throw new IllegalArgumentException("budgets are set elsewhere");
            case Change.BudgetRemoved removed -> throw new IllegalArgumentException("budgets are set elsewhere");
            case Change.PastUseSet set -> throw new IllegalArgumentException("past use is set elsewhere");
            case Change.WorkloadSet set -> throw new IllegalArgumentException("workloads are set elsewhere");
            case Change.WorkloadRemoved removed -> throw new IllegalArgumentException("workloads are set elsewhere");
        };
    }

    private boolean setPool(Pool pool) {
        quotaCalendar.record(pool);
        boolean news = !pool.equals(pools.put(pool.id(), pool));
        updatePoolsWait();
        return news;
    }

    private boolean removePool(PoolId id) {
        boolean news = pools.remove(id) != null;
        updatePoolsWait();
        news |= nodes.values().removeIf(node -> node.pool().equals(id));
        news |= quotaCalendar.removePool(id);
        return news | quotas.remove(Scope.of(id)) != null;
    }

    private boolean setQuota(Quota quota) {
        quotaCalendar.record(quota);
        return !quota.equals(
                quotas.computeIfAbsent(quota.scope(), scope -> new TreeMap<>()).put(quota.path(), quota));
    }

    private boolean removeQuota(QuotaPath path, Scope scope) {
        SortedMap<QuotaPath, Quota> ofScope = quotas.getOrDefault(scope, new TreeMap<>());
        boolean news = ofScope.remove(path) != null;
        quotaCalendar.removeQuota(path, scope);
        if (ofScope.isEmpty()) {
            quotas.remove(scope);
        }
        return news;
    }

    private boolean setAccountStatus(QuotaPath path, Change.AccountStatus accountStatus) {
        Change.AccountStatus before = accountStatus == Change.AccountStatus.ACTIVE
                ? accountStatuses.remove(path)
                : accountStatuses.put(path, accountStatus);
        return accountStatus != (before == null ? Change.AccountStatus.ACTIVE : before);
    }

    /** Copies the whole state of another object into this empty one. */
    public void apply(DeclaredState other) {
        pools.putAll(other.pools);
        updatePoolsWait();
        nodes.putAll(other.nodes);
        other.quotas.forEach((scope, ofScope) -> quotas.put(scope, new TreeMap<>(ofScope)));
        quotaCalendar.copyFrom(other.quotaCalendar);
        profileOrders.putAll(other.profileOrders);
        strictQueues.addAll(other.strictQueues);
        accountStatuses.putAll(other.accountStatuses);
        concurrencyCaps.putAll(other.concurrencyCaps);
        workloads = other.workloads.copy();
    }

    /** The changes that restore this state. */
    public List<Change> asChanges() {
        List<Change> changes = new ArrayList<>();
        pools.values().forEach(pool -> changes.add(new Change.PoolSet(pool)));
        nodes.values().forEach(node -> changes.add(new Change.NodeSet(node)));
        quotas.values().forEach(ofScope -> ofScope.values().forEach(quota -> changes.add(new Change.QuotaSet(quota))));
        quotaCalendar.reservations().forEach(each -> changes.add(new Change.CapacityReservationSet(each)));
        profileOrders.values().forEach(profileOrder -> changes.add(new Change.ProfileSet(profileOrder)));
        strictQueues.forEach(queue -> changes.add(new Change.QueueSet(queue, QueueOrder.STRICT_FIFO)));
        accountStatuses.forEach((path, accountStatus) -> changes.add(new Change.AccountStatusSet(path, accountStatus)));
        concurrencyCaps.values().forEach(stated -> changes.add(new Change.CapsSet(stated)));
        workloadsInOrder().forEach(workload -> changes.add(new Change.WorkloadSet(workload)));
        return changes;
    }
}
