package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.MoveSearches;
import io.quartermaster.engine.preemption.EvictionCandidate;
import io.quartermaster.engine.preemption.RunningWorkIndex;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The scheduling state: the bookings that follow from the states of all workloads. A workload is booked on devices and
 * in quota trees, and it is listed among running work, in a scheduling class, or among nominations. The booking follows
 * from the workload's record alone, so removing it exactly reverses adding it. Changes are logged in {@link #changes}.
 */
public final class SchedulingState {
    private final OptionalLong patienceMillis;
    private final boolean queueHeads;
    private final boolean workEndsAtClose;
    private final SortedMap<PoolId, Long> poolTransitions = new TreeMap<>();
    private long nowMillis;
    private long agedToMillis;
    private final boolean agesMatter;
    private final DeclaredState declaredState;
    private final FeasibilityCheck feasibility;
    private final ReportedReasons reportedReasons;
    private final Cluster cluster;
    private final RunningWorkIndex runningWork = new RunningWorkIndex();
    private final boolean allIsLent;
    private final ChangeLog changes = new ChangeLog();
    private final Map<SchedulingClass.Key, SchedulingClass> schedulingClasses = new LinkedHashMap<>();
    private final Set<SchedulingClass> irregular = new LinkedHashSet<>();
    private final Map<QuotaPath, GroupState> groupStates = new HashMap<>();
    private final Map<String, List<SchedulingClass>> classesOfTenant = new HashMap<>();
    private final Map<QueueId, StrictQueue> strictQueues = new HashMap<>();
    private final SortedMap<WorkloadId, Workload> nominated = new TreeMap<>();
    private final SortedMap<WorkloadId, Workload> incomplete = new TreeMap<>();
    private final SortedMap<WorkloadId, Workload> outsidePreferredPool = new TreeMap<>();
    private final Map<PoolId, NavigableSet<Release>> releases = new HashMap<>();
    private final Map<PoolId, SortedMap<WorkloadId, PendingRelease>> pendingReleases = new HashMap<>();
    /** The start times of all work that holds devices, with the number of such workloads of each tenant. */
    private final NavigableMap<Long, Map<String, Integer>> startedAt = new TreeMap<>();

    private final Map<String, TenantVersion> tenants = new LinkedHashMap<>();

    /**
     * The times from which work that started from a backfill reservation may be reclaimed by the right of fair share,
     * too.
     */
    private final NavigableMap<Long, Integer> reclaimableFrom = new TreeMap<>();

    private long createdClasses;
    private long reclaimableChanges;

    /**
     * @param budgets the budgets and their remaining amounts
     * @param nowMillis the time at which the calendar is read
     * @param agedToMillis the time of the last plan: of the running work, the plan knew what had come of age by then
     * @param patienceMillis absent = there are no backfill reservations, and the run time of work does not matter
     * @param agesMatter whether the age of running work matters
     * @param reportedReasons the reasons that waiting work reported; updated as work leaves and joins classes
     * @param moveSearches the searches for moves so far
     */
    public SchedulingState(
            DeclaredState declaredState,
            Budgets budgets,
            long nowMillis,
            long agedToMillis,
            OptionalLong patienceMillis,
            boolean agesMatter,
            ReportedReasons reportedReasons,
            MoveSearches moveSearches) {
        this.patienceMillis = patienceMillis;
        this.queueHeads = !declaredState.calendar().isEmpty() || !budgets.isEmpty();
        this.workEndsAtClose = declaredState.calendar().anyPreemptsAtClose();
        this.nowMillis = nowMillis;
        this.agedToMillis = agedToMillis;
        this.agesMatter = agesMatter;
        this.reportedReasons = reportedReasons;
        this.declaredState = declaredState;
        cluster = Cluster.of(
                declaredState.poolsAt(nowMillis),
                declaredState.nodes().values(),
                declaredState.quotasAt(nowMillis),
                declaredState.caps(),
                declaredState.paths(),
                moveSearches);
        cluster.setBudgetMeters(budgets.meters());
        budgets.publish(cluster.meters());
        cluster.trees().forEach(tree -> tree.setNowMillis(nowMillis));
        for (Pool pool :
                declaredState.calendar().anyHours() ? declaredState.pools().values() : List.<Pool>of()) {
            pool.hours()
                    .map(hours -> hours.nextTransition(nowMillis))
                    .filter(OptionalLong::isPresent)
                    .ifPresent(turn -> poolTransitions.put(pool.id(), turn.getAsLong()));
        }
        allIsLent = cluster.trees().stream().allMatch(QuotaTree::lendsAll);
        feasibility = new FeasibilityCheck(declaredState, new PoolRequestFactory(declaredState, this), allIsLent);
        List<Workload> inOrder = new ArrayList<>(declaredState.workloads().size());
        declaredState.workloads().forEach(inOrder::add);
        inOrder.sort(SchedulingClass.IN_GROUP);
        inOrder.forEach(this::add);
    }

    /** Saves the reasons that the members of all classes reported, before this state is discarded. */
    public void close() {
        schedulingClasses.values().forEach(reportedReasons::replaceAll);
    }

    public RunningWorkIndex runningWork() {
        return runningWork;
    }

    public Cluster cluster() {
        return cluster;
    }

    /**
     * Advances the time. A transition requires a new state instead.
     *
     * @param leastRuntimesMillis the ages at which running work gets another right to stay
     */
    public void advanceTo(long millis, List<Long> leastRuntimesMillis) {
        boolean comesOfAge = reclaimableFrom.higherKey(agedToMillis) instanceof Long first && first <= millis;
        for (long least : leastRuntimesMillis) {
            for (Map<String, Integer> ofTenants : millis <= agedToMillis
                    ? List.<Map<String, Integer>>of()
                    : startedAt
                            .subMap(agedToMillis - least, false, millis - least, true)
                            .values()) {
                comesOfAge = true;
                ofTenants.keySet().forEach(tenant -> tenant(tenant).recordChange());
            }
        }
        if (comesOfAge) {
            countReclaimable();
        }
        nowMillis = millis;
        agedToMillis = millis;
    }

    /** Changes whenever the right to evict some running work may have changed. */
    public long rightsVersion() {
        return changes.useChanges() + reclaimableChanges;
    }

    /** Records that running work of any tenant may be evicted that could not be before. */
    public void recordReclaimable() {
        tenants.values().forEach(TenantVersion::recordChange);
        countReclaimable();
    }

    private void countReclaimable() {
        cluster.moveSearches().countRelease();
        reclaimableChanges++;
    }

    TenantVersion tenant(String tenant) {
        TenantVersion known = tenants.get(tenant);
        if (known == null) {
            known = new TenantVersion();
            tenants.put(tenant, known);
        }
        return known;
    }

    /** The time at which a pool opens or closes next; empty if none is known. */
    public OptionalLong nextTransition(PoolId pool) {
        Long turn = poolTransitions.get(pool);
        return turn == null ? OptionalLong.empty() : OptionalLong.of(turn);
    }

    /**
     * Whether work could start in a pool after so many milliseconds, by the pool's opening hours. A pool may preempt at
     * closing. Work that states its {@code max-runtime} then starts only if it ends by that time, and non-preemptible
     * work must state one.
     */
    public boolean isOpen(Pool pool, long inMillis, boolean preemptible, OptionalLong maxRuntimeMillis) {
        OptionalLong closes = nextTransition(pool.id());
        long startMillis = nowMillis + inMillis;
        boolean stopsWork = closes.isPresent()
                && pool.hours()
                        .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT)
                        .isPresent();
        boolean closesBefore = inMillis > 0 && closes.isPresent() && closes.getAsLong() <= startMillis;
        return pool.takesWork()
                && !closesBefore
                && (!stopsWork
                        || (maxRuntimeMillis.isPresent()
                                ? startMillis + maxRuntimeMillis.getAsLong() <= closes.getAsLong()
                                : preemptible));
    }

    /** Whether a request could ever be admitted by quotas and by what others lend, regardless of other work. */
    public boolean isEverAdmissible(QuotaRequest quotaRequest) {
        return feasibility.isEverAdmissible(quotaRequest);
    }

    /** The changes since this state was built. */
    public ChangeLog changes() {
        return changes;
    }

    /** All scheduling classes with members. */
    public Collection<SchedulingClass> schedulingClasses() {
        return Collections.unmodifiableCollection(schedulingClasses.values());
    }

    /** The classes whose order depends on more than one pool, or on their head. */
    public Collection<SchedulingClass> irregularClasses() {
        return Collections.unmodifiableCollection(irregular);
    }

    public Optional<SchedulingClass> schedulingClass(Workload workload) {
        return Optional.ofNullable(schedulingClasses.get(key(workload)));
    }

    /** All workloads with a nomination, in the order of their ids. */
    public List<Workload> nominated() {
        return nominated.isEmpty() ? List.of() : List.copyOf(nominated.values());
    }

    /** All workloads that lost workers of their core, in the order of their ids. */
    public List<Workload> incomplete() {
        return incomplete.isEmpty() ? List.of() : List.copyOf(incomplete.values());
    }

    /** All running workloads with {@code moveBack} that are not in their first pool, in the order of their ids. */
    public List<Workload> outsidePreferredPool() {
        return outsidePreferredPool.isEmpty() ? List.of() : List.copyOf(outsidePreferredPool.values());
    }

    private static boolean isOutsidePreferredPool(Workload workload, WorkloadPhase.Holding holding) {
        return workload.movesBack()
                && workload.preemptible()
                && workload.nomination().isEmpty()
                && holding.phase() instanceof WorkloadPhase.Phase.Running
                && workload.pools().indexOf(holding.allocation().pool()) > 0;
    }

    /** The first start time after a moment, of work that still holds devices. */
    public OptionalLong startedAfter(long millis) {
        Long next = startedAt.higherKey(millis);
        return next == null ? OptionalLong.empty() : OptionalLong.of(next);
    }

    /**
     * The first moment after a given one from which work that started from a backfill reservation may be reclaimed by
     * the right of fair share.
     */
    public OptionalLong reclaimableAfter(long millis) {
        Long next = reclaimableFrom.higherKey(millis);
        return next == null ? OptionalLong.empty() : OptionalLong.of(next);
    }

    private void countReclaimable(WorkloadPhase.Holding holding, int more) {
        if (holding.fromReservation() && patienceMillis.isPresent()) {
            reclaimableFrom.merge(
                    holding.startedMillis() + patienceMillis.getAsLong(),
                    more,
                    (count, change) -> count + change == 0 ? null : count + change);
        }
    }

    /** Whether the trees have a leaf for the path. */
    public boolean hasLeafFor(QuotaPath path) {
        if (groupStates.containsKey(path)) {
            return true;
        }
        for (QuotaTree tree : cluster.trees()) {
            if (!tree.knows(path)) {
                return false;
            }
        }
        return true;
    }

    private GroupState group(QuotaPath path) {
        GroupState known = groupStates.get(path);
        if (known != null) {
            return known;
        }
        List<QuotaNode> leaves = new ArrayList<>();
        cluster.trees().forEach(tree -> leaves.add(tree.leaf(path)));
        GroupState groupState =
                new GroupState(classesOfTenant.computeIfAbsent(path.tenant(), tenant -> new ArrayList<>()), leaves);
        groupStates.put(path, groupState);
        return groupState;
    }

    /** Logs a change of the group's use. If some quota keeps idle capacity, the change may affect every group. */
    private void recordChange(QuotaPath path) {
        tenant(path.tenant()).recordChange();
        if (allIsLent) {
            GroupState groupState = group(path);
            changes.add(groupState.recordChange(!declaredState.caps().isEmpty()));
            if (groupState.takeCapacityCrossed()) {
                changes.add(ChangeLog.CAPACITY);
            }
        } else {
            changes.invalidate();
        }
    }

    /** Logs a change of a fair share. The share of a group's own node bounds what the group may reclaim. */
    public void recordFairShareChange(QuotaNode node) {
        changes.add(new FairShareChange(node));
        if (!node.isRoot()) {
            tenant(node.path().tenant()).recordChange();
        }
        GroupState groupState = node.children().isEmpty() ? groupStates.get(node.path()) : null;
        if (groupState != null) {
            changes.add(groupState);
        }
    }

    public void add(Workload workload) {
        workload.nomination().ifPresent(place -> {
            cluster.add(booking(workload, place), UsageView.PROJECTED);
            nominated.put(workload.id(), workload);
            recordChange(workload.path());
        });
        switch (workload.state()) {
            case WorkloadPhase.Waiting waiting -> {
                if (!workload.held() && workload.nomination().isEmpty()) {
                    enqueue(key(workload), workload);
                } else if (!workload.held()) {
                    declaredState.strictQueue(workload).ifPresent(queue -> enterStrictQueue(queue(queue), workload));
                }
            }
            case WorkloadPhase.Holding holding -> addHolding(workload, holding);
        }
    }

    private void addHolding(Workload workload, WorkloadPhase.Holding holding) {
        Booking booking = booking(workload, holding.allocation());
        cluster.add(booking, UsageView.CURRENT);
        if (holding.phase().isStaying()) {
            cluster.add(booking, UsageView.PROJECTED);
        } else {
            remaining(holding).ifPresent(rest -> cluster.add(booking(workload, rest), UsageView.PROJECTED));
        }
        evictionCandidate(workload, holding).ifPresent(runningWork::add);
        if (isOutsidePreferredPool(workload, holding)) {
            outsidePreferredPool.put(workload.id(), workload);
        }
        growthKey(workload, holding).ifPresent(key -> enqueue(key, workload));
        if (holding.phase() instanceof WorkloadPhase.Phase.Incomplete) {
            incomplete.put(workload.id(), workload);
        }
        release(workload, holding).ifPresent(release -> releases.computeIfAbsent(
                        holding.allocation().pool(), pool -> new TreeSet<>(Release.EARLIEST_FIRST))
                .add(release));
        pendingRelease(holding).ifPresent(goes -> pendingReleases
                .computeIfAbsent(holding.allocation().pool(), pool -> new TreeMap<>())
                .put(workload.id(), goes));
        if (agesMatter) {
            startedAt
                    .computeIfAbsent(holding.startedMillis(), started -> new TreeMap<>())
                    .merge(workload.path().tenant(), 1, Integer::sum);
        }
        countReclaimable(holding, 1);
        recordChange(workload.path());
    }

    /** Undoes {@link #add}. */
    public void remove(Workload workload) {
        workload.nomination().ifPresent(place -> {
            cluster.remove(booking(workload, place), UsageView.PROJECTED);
            runningWork.recordFreed(place);
            nominated.remove(workload.id());
            recordChange(workload.path());
        });
        switch (workload.state()) {
            case WorkloadPhase.Waiting waiting -> {
                if (!workload.held() && workload.nomination().isEmpty()) {
                    dequeue(key(workload), workload);
                } else if (!workload.held()) {
                    declaredState.strictQueue(workload).ifPresent(queue -> leaveStrictQueue(queue(queue), workload));
                }
            }
            case WorkloadPhase.Holding holding -> removeHolding(workload, holding);
        }
    }

    private void removeHolding(Workload workload, WorkloadPhase.Holding holding) {
        cluster.remove(booking(workload, holding.allocation()), UsageView.CURRENT);
        remaining(holding).ifPresent(rest -> cluster.remove(booking(workload, rest), UsageView.PROJECTED));
        evictionCandidate(workload, holding).ifPresent(runningWork::remove);
        runningWork.recordFreed(holding.allocation());
        if (isOutsidePreferredPool(workload, holding)) {
            outsidePreferredPool.remove(workload.id());
        }
        growthKey(workload, holding).ifPresent(key -> dequeue(key, workload));
        if (holding.phase() instanceof WorkloadPhase.Phase.Incomplete) {
            incomplete.remove(workload.id());
        }
        release(workload, holding).ifPresent(release -> Objects.requireNonNull(
                        releases.get(holding.allocation().pool()))
                .remove(release));
        pendingRelease(holding).ifPresent(goes -> Objects.requireNonNull(
                        pendingReleases.get(holding.allocation().pool()))
                .remove(workload.id()));
        if (agesMatter) {
            startedAt.computeIfPresent(holding.startedMillis(), (started, ofTenants) -> {
                ofTenants.merge(workload.path().tenant(), -1, (count, less) -> count + less == 0 ? null : count + less);
                return ofTenants.isEmpty() ? null : ofTenants;
            });
        }
        countReclaimable(holding, -1);
        recordChange(workload.path());
    }

    private static Optional<Release> release(Workload workload, WorkloadPhase.Holding holding) {
        return remaining(holding)
                .map(rest -> new Release(
                        workload.id(),
                        booking(workload, rest),
                        holding.startedMillis(),
                        workload.maxRuntimeMillis().isPresent()
                                ? holding.startedMillis()
                                        + workload.maxRuntimeMillis().getAsLong()
                                : Release.NEVER));
    }

    private static Optional<PendingRelease> pendingRelease(WorkloadPhase.Holding holding) {
        return switch (holding.phase()) {
            case WorkloadPhase.Phase.Running running -> Optional.empty();
            case WorkloadPhase.Phase.Incomplete incomplete -> Optional.empty();
            case WorkloadPhase.Phase.Stopping stopping ->
                Optional.of(new PendingRelease(holding.allocation(), stopping.deadlineMillis()));
            case WorkloadPhase.Phase.Shrinking shrinking ->
                Optional.of(
                        new PendingRelease(holding.allocation().only(shrinking.workers()), shrinking.deadlineMillis()));
        };
    }

    /** The running work in a pool, in the order in which it releases its devices by its stated run times. */
    public Collection<Release> releases(PoolId pool) {
        return Collections.unmodifiableCollection(releases.getOrDefault(pool, Collections.emptyNavigableSet()));
    }

    /** The evicted work in a pool that still holds devices. */
    public Collection<PendingRelease> pendingRelease(PoolId pool) {
        return Collections.unmodifiableCollection(
                pendingReleases.getOrDefault(pool, Collections.emptySortedMap()).values());
    }

    /** Replaces the booking of a workload by that of its new state. */
    public void replace(Workload before, Workload after) {
        boolean waitsOn = after.state() instanceof WorkloadPhase.Waiting && !after.held();
        if (waitsOn && before.state() instanceof WorkloadPhase.Waiting) {
            schedulingClass(before)
                    .filter(schedulingClass ->
                            schedulingClass.members().contains(before) && !schedulingClass.isUnexplained(before))
                    .ifPresent(schedulingClass -> reportedReasons.put(before.id(), schedulingClass.reasons()));
        }
        remove(before);
        add(after);
    }

    /** Starts the head of a class. */
    public void start(SchedulingClass schedulingClass, Workload after) {
        dequeue(schedulingClass, schedulingClass.head());
        add(after);
    }

    /** The key of a waiting workload's class; user and run time are part of it only where they matter. */
    private SchedulingClass.Key key(Workload workload) {
        boolean userMatters = cluster.caps().distinguishesUsers(workload.path());
        return SchedulingClass.Key.waiting(
                workload,
                userMatters ? workload.user() : Optional.empty(),
                declaredState.strictQueue(workload),
                patienceMillis.isPresent() || workEndsAtClose || queueHeads && !workload.preemptible()
                        ? workload.maxRuntimeMillis()
                        : OptionalLong.empty());
    }

    private void enqueue(SchedulingClass.Key key, Workload workload) {
        SchedulingClass known = schedulingClasses.get(key);
        SchedulingClass schedulingClass = known == null ? createClass(key) : known;
        schedulingClass.add(workload);
        changes.add(schedulingClass);
        if (known == null && key.strictQueue().isPresent() && feasibility.canEverRun(schedulingClass)) {
            schedulingClass.enterStrictQueue(queue(key.strictQueue().get()));
        }
        schedulingClass.queue().ifPresent(queue -> enterStrictQueue(queue, workload));
    }

    private SchedulingClass createClass(SchedulingClass.Key key) {
        SchedulingClass schedulingClass = new SchedulingClass(key, group(key.path()), createdClasses++);
        schedulingClasses.put(key, schedulingClass);
        schedulingClass.group().add(schedulingClass);
        if (!schedulingClass.isRegular()) {
            irregular.add(schedulingClass);
        }
        return schedulingClass;
    }

    private StrictQueue queue(QueueId id) {
        return strictQueues.computeIfAbsent(id, key -> new StrictQueue());
    }

    private void enterStrictQueue(StrictQueue queue, Workload workload) {
        Optional<Workload> first = queue.first();
        queue.add(workload);
        strictHeadChanged(first, queue.first());
    }

    private void leaveStrictQueue(StrictQueue queue, Workload workload) {
        Optional<Workload> first = queue.first();
        queue.remove(workload);
        strictHeadChanged(first, queue.first());
    }

    /** Logs that a strict queue has another first workload: both workloads may have another next attempt. */
    private void strictHeadChanged(Optional<Workload> from, Optional<Workload> to) {
        if (!from.equals(to)) {
            from.ifPresent(this::recordClassChange);
            to.ifPresent(this::recordClassChange);
        }
    }

    private void recordClassChange(Workload workload) {
        SchedulingClass schedulingClass =
                workload.nomination().isPresent() ? null : schedulingClasses.get(key(workload));
        if (schedulingClass != null) {
            changes.add(schedulingClass);
        }
    }

    private void dequeue(SchedulingClass.Key key, Workload workload) {
        SchedulingClass schedulingClass = schedulingClasses.get(key);
        if (schedulingClass != null) {
            dequeue(schedulingClass, workload);
        }
    }

    private void dequeue(SchedulingClass schedulingClass, Workload workload) {
        schedulingClass.remove(workload);
        changes.add(schedulingClass);
        schedulingClass.queue().ifPresent(queue -> leaveStrictQueue(queue, workload));
        if (schedulingClass.isEmpty()) {
            schedulingClasses.remove(schedulingClass.key());
            schedulingClass.group().remove(schedulingClass);
            irregular.remove(schedulingClass);
        }
    }

    public static Booking booking(Workload workload, Allocation allocation) {
        boolean whole = !(workload.state() instanceof WorkloadPhase.Holding holding)
                || holding.allocation().equals(allocation)
                || !holding.phase().isStaying();
        return new Booking(
                workload.path(),
                workload.user(),
                workload.shape().as(allocation),
                workload.preemptible(),
                allocation,
                whole);
    }

    /** The allocation that remains after all evicted workers have left. */
    public static Optional<Allocation> remaining(WorkloadPhase.Holding holding) {
        return switch (holding.phase()) {
            case WorkloadPhase.Phase.Running running -> Optional.of(holding.allocation());
            case WorkloadPhase.Phase.Incomplete incomplete -> Optional.of(holding.allocation());
            case WorkloadPhase.Phase.Stopping stopping -> Optional.empty();
            case WorkloadPhase.Phase.Shrinking shrinking ->
                Optional.of(holding.allocation().without(shrinking.workers()));
        };
    }

    /**
     * The workload as an eviction candidate, with the workers that it keeps. Empty if it is non-preemptible, stops, or
     * has a nomination for more workers.
     */
    static Optional<EvictionCandidate> evictionCandidate(Workload workload, WorkloadPhase.Holding holding) {
        Optional<Allocation> keeps = remaining(holding);
        if (!workload.preemptible() || keeps.isEmpty() || workload.nomination().isPresent()) {
            return Optional.empty();
        }
        OptionalLong leavingBy = holding.phase() instanceof WorkloadPhase.Phase.Shrinking shrinking
                ? OptionalLong.of(shrinking.deadlineMillis())
                : OptionalLong.empty();
        return Optional.of(new EvictionCandidate(
                workload.id(),
                booking(workload, keeps.get()),
                workload.priority(),
                workload.shape().allMinWorkers(),
                holding.startedMillis(),
                workload.submittedMillis(),
                workload.sequence(),
                holding.fromReservation(),
                leavingBy));
    }

    /** The class for the missing workers of an elastic workload. */
    private static Optional<SchedulingClass.Key> growthKey(Workload workload, WorkloadPhase.Holding holding) {
        boolean wants = holding.phase().isStaying()
                && workload.nomination().isEmpty()
                && !workload.held()
                && holding.allocation().workers().size() < workload.shape().allWorkers();
        return wants
                ? Optional.of(SchedulingClass.Key.growingWorkload(workload, holding.allocation()))
                : Optional.empty();
    }

    /** The numbers of an allocation's workers. */
    public static SortedSet<Integer> numbers(Allocation allocation) {
        SortedSet<Integer> numbers = new TreeSet<>();
        allocation.workers().forEach(worker -> numbers.add(worker.number()));
        return numbers;
    }
}
