package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.MoveSearches;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes room for one preemptor in one pool. It tries the ways from the least to the most disruptive: consolidate,
 * reclaim, preempt, and the last two together. It only simulates; the caller carries out the result.
 *
 * <p>Moves need no right. Whether they make room depends on the request and on the running work, not on the preemptor.
 * If moves fail for a request, they are therefore not tried again for an equal request until work leaves or becomes
 * movable ({@link MoveSearches}). The exception is a running workload that grows, because it is not moved for itself.
 * The targets come first: nodes or domains, the emptiest first. Each plan has a budget of targets.
 */
public final class EvictionPlanner {
    /** The most moves for one start; more are not worth the disruption. */
    private static final int MAX_MOVES = 32;

    /**
     * The most moves whose victims are chosen in the whole pool, in the order of all victims. In a large pool, these
     * seldom share a node.
     */
    private static final int MAX_MOVES_ANYWHERE = 8;

    /** The most nodes or domains that are tried for one start, the emptiest first. */
    private static final int MAX_AREAS = 16;

    private final Settings settings;
    private final Cluster cluster;
    private final RunningWorkIndex runningWork;
    private final EvictionRules rules;
    private final Map<MoveFeasibilityKey, MoveFeasibility> moveFeasibility = new HashMap<>();
    private final Map<NodeId, SortedMap<QuotaPath, SortedSet<EvictionUnit>>> movables = new HashMap<>();
    /** The targets of the current preemptor, as far as they are known. */
    private @Nullable List<SortedSet<NodeId>> targets;

    private int targetsLeft;
    private boolean searchesExhausted;

    public EvictionPlanner(
            Settings settings, Cluster cluster, RunningWorkIndex work, ChurnGuard churnGuard, long nowMillis) {
        this.settings = settings;
        this.cluster = cluster;
        this.runningWork = work;
        this.rules = new EvictionRules(settings, cluster, churnGuard, nowMillis);
        this.targetsLeft = settings.moveSearches();
    }

    /** The victims that a way of making room may evict. */
    private enum EvictionScope {
        RECLAIM(true, false),
        PREEMPT(false, true),
        BOTH(true, true);

        private final boolean fromOthers;
        private final boolean fromOwnGroup;

        EvictionScope(boolean fromOthers, boolean fromOwnGroup) {
            this.fromOthers = fromOthers;
            this.fromOwnGroup = fromOwnGroup;
        }
    }

    /** Discards what is cached, because bookings have changed. */
    public void invalidate() {
        moveFeasibility.clear();
        movables.clear();
    }

    /**
     * The room to which work could move: that of a pool, beside all reservations but those of some classes, which are
     * given by their numbers.
     */
    private record MoveFeasibilityKey(PoolId pool, Set<Long> withoutReservations) {}

    /**
     * The eviction plan with the least disruption, or none.
     *
     * @param requestSignature the signature of the request, if no property of the preemptor matters
     * @param withoutReservations the classes, by their numbers, whose reservations do not bind the preemptor
     * @param areReleasesKnownToFail whether it is known that there is no place after all evicted work has left
     */
    public Optional<EvictionPlan> plan(
            Preemptor preemptor,
            Optional<RequestSignature> requestSignature,
            Set<Long> withoutReservations,
            boolean areReleasesKnownToFail) {
        targets = null;
        Optional<QuotaAdmission.Violation> violation = QuotaAdmission.projected(preemptor.quotaRequest());
        if (violation.isPresent() && !isRemovable(violation.get().bound())) {
            return Optional.empty();
        }
        Transaction transaction = cluster.transaction();
        SolutionValidator solutionValidator = new SolutionValidator(cluster, transaction, rules, preemptor);
        if (violation.isEmpty()) {
            Optional<EvictionPlan> pendingReleases =
                    areReleasesKnownToFail ? Optional.empty() : planFromPendingReleases(preemptor, requestSignature);
            Optional<EvictionPlan> evictionPlan = pendingReleases.or(() -> planConsolidation(
                    transaction, preemptor, requestSignature, withoutReservations, solutionValidator));
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        if (preemptor.allowedActions() == Preemptor.AllowedActions.MOVE_ONLY) {
            return Optional.empty();
        }
        boolean onlyOwnGroupHelps =
                violation.isPresent() && violation.get().cap().isPresent();
        List<EvictionUnit> lower = lowerPriorityUnits(preemptor);
        boolean onlyBack = preemptor.allowedActions() == Preemptor.AllowedActions.RECLAIM_RESERVED;
        for (EvictionScope evictionScope :
                onlyBack ? List.of(EvictionScope.RECLAIM) : List.of(EvictionScope.values())) {
            boolean possible = (!evictionScope.fromOthers
                            || rules.couldReclaim(
                                    preemptor.quotaRequest(), evictionScope.fromOwnGroup ? lower : List.of()))
                    && (!evictionScope.fromOwnGroup || !lower.isEmpty())
                    && (evictionScope.fromOwnGroup || !onlyOwnGroupHelps);
            Optional<EvictionPlan> evictionPlan = possible
                    ? planEviction(transaction, preemptor, evictionScope, solutionValidator)
                    : Optional.empty();
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        return Optional.empty();
    }

    /**
     * The move of running work to another pool, to a place that is free now. Nothing is evicted for it. Empty if there
     * is no such place, or if the work may not be moved.
     *
     * @param quotaRequest the quota request that the work would make in the other pool
     */
    public Optional<EvictionPlan.Eviction> moveTo(
            EvictionCandidate evictionCandidate,
            PoolCapacity poolCapacity,
            QuotaRequest quotaRequest,
            PlacementRequest placementRequest) {
        if (!rules.pastMinRuntime(evictionCandidate)) {
            return Optional.empty();
        }
        List<QuotaNode> nodes = new ArrayList<>(quotaRequest.leaves());
        for (QuotaNode leaf : cluster.bindingLeaves(
                evictionCandidate.allocation().pool(),
                evictionCandidate.booking().path())) {
            if (!nodes.contains(leaf)) {
                nodes.add(leaf);
            }
        }
        List<EvictionReceipt.Share> before =
                nodes.stream().map(QuotaNode::share).toList();
        Transaction transaction = cluster.transaction();
        transaction.release(evictionCandidate.booking());
        Optional<Allocation> place = QuotaAdmission.projected(quotaRequest).isEmpty()
                ? poolCapacity.place(placementRequest, Availability.NOW)
                : Optional.empty();
        Optional<EvictionPlan.Eviction> move = place.map(found -> {
            transaction.bookInTrees(evictionCandidate.booking().at(found));
            List<EvictionReceipt.Share> after =
                    nodes.stream().map(QuotaNode::share).toList();
            List<EvictionReceipt.Considered> considered =
                    List.of(new EvictionReceipt.Considered(evictionCandidate.id(), EvictionReceipt.Outcome.MOVED));
            EvictionReceipt evictionReceipt =
                    new EvictionReceipt(EvictionReceipt.Right.MOVED, before, after, considered);
            return new EvictionPlan.Eviction(
                    evictionCandidate,
                    evictionCandidate.booking(),
                    true,
                    EvictionCause.CONSOLIDATE,
                    place,
                    evictionReceipt);
        });
        transaction.rollback();
        return move;
    }

    /** Whether work of other groups could be evicted for the preemptor, whatever leaves of its own group. */
    public boolean mayReclaim(Preemptor preemptor) {
        return rules.couldReclaim(preemptor.quotaRequest(), lowerPriorityUnits(preemptor));
    }

    /** The work of lower priority in the preemptor's own group. */
    private List<EvictionUnit> lowerPriorityUnits(Preemptor preemptor) {
        return runningWork
                .running(preemptor.poolCapacity().pool().id(), preemptor.path())
                .below(preemptor.priority());
    }

    /**
     * Whether making room may succeed, judged without a search by the state of the group. A bound of the group may
     * prevent it, or there may be no possible victim.
     *
     * @param ofGroup the group's running work in the pool
     */
    public EvictionFeasibility feasibility(QuotaRequest quotaRequest, int priority, CandidatesOfGroup ofGroup) {
        boolean nobodyToStop = ofGroup.lowestPriority() >= priority && !rules.couldReclaim(quotaRequest, List.of());
        Optional<QuotaAdmission.Violation> violation = QuotaAdmission.ofTenantProjected(quotaRequest);
        if (violation.isPresent()
                && (nobodyToStop || !isRemovable(violation.get().bound()))) {
            return EvictionFeasibility.IMPOSSIBLE;
        }
        return nobodyToStop ? EvictionFeasibility.RELEASES_ONLY : EvictionFeasibility.POSSIBLE;
    }

    /** The fenced group or tenant whose fence prevents the preemptor from reclaiming; empty if no fence does. */
    public Optional<QuotaPath> fenceInTheWay(Preemptor preemptor) {
        if (preemptor.quotaRequest().leaves().stream()
                .noneMatch(leaf -> leaf.tree().hasFences())) {
            return Optional.empty();
        }
        for (SortedSet<EvictionUnit> ofGroup :
                runningWork.running(preemptor.poolCapacity().pool().id()).values()) {
            for (EvictionUnit evictionUnit : ofGroup) {
                EvictionCandidate evictionCandidate = evictionUnit.candidate();
                boolean other = !evictionCandidate.booking().path().equals(preemptor.path());
                Optional<QuotaPath> fence = other && rules.pastReclaimMinRuntime(evictionCandidate)
                        ? rules.fenceInTheWay(preemptor, evictionCandidate)
                        : Optional.empty();
                if (fence.isPresent()) {
                    return fence;
                }
            }
        }
        return Optional.empty();
    }

    private static boolean isRemovable(QuotaAdmission.Bound bound) {
        return switch (bound) {
            case UNNAMED, NOT_PREEMPTIBLE -> false;
            case LIMIT, USER_CAP, WORKLOAD_CAP, OVER_QUOTA_OFF, HELD_FOR_OTHERS, CAPACITY -> true;
        };
    }

    /** A place in the capacity that is free after all evicted work has left. */
    private Optional<EvictionPlan> planFromPendingReleases(
            Preemptor preemptor, Optional<RequestSignature> requestSignature) {
        if (requestSignature.filter(RequestSignature::cannotStartAfterReleases).isPresent()) {
            return Optional.empty();
        }
        Optional<EvictionPlan> evictionPlan = preemptor
                .poolCapacity()
                .place(preemptor.placementRequest(), Availability.AFTER_RELEASES)
                .map(place -> new EvictionPlan(place, List.of()));
        if (evictionPlan.isEmpty() && preemptor.poolCapacity().isFreeOfReservations()) {
            requestSignature.ifPresent(RequestSignature::recordMissAfterReleases);
        }
        return evictionPlan;
    }

    private Optional<EvictionPlan> planConsolidation(
            Transaction transaction,
            Preemptor preemptor,
            Optional<RequestSignature> requestSignature,
            Set<Long> withoutReservations,
            SolutionValidator solutionValidator) {
        if (!settings.consolidate()
                || requestSignature
                        .filter(RequestSignature::areMovesKnownToFail)
                        .isPresent()) {
            return Optional.empty();
        }
        Optional<EvictionPlan> evictionPlan = Optional.empty();
        if (preemptor.poolCapacity().couldFitRearranged(preemptor.placementRequest())) {
            if (targetsLeft <= 0) {
                searchesExhausted = true;
                return evictionPlan;
            }
            MoveFeasibilityKey room =
                    new MoveFeasibilityKey(preemptor.poolCapacity().pool().id(), withoutReservations);
            evictionPlan = planConsolidation(
                    transaction,
                    preemptor,
                    moveFeasibility.computeIfAbsent(room, key -> new MoveFeasibility(preemptor.poolCapacity())),
                    solutionValidator);
        }
        if (evictionPlan.isEmpty()) {
            requestSignature.ifPresent(RequestSignature::recordMovesFailure);
        }
        return evictionPlan;
    }

    /**
     * Whether moves were not tried for some request, because the budget of the plan was used up, since the last call.
     */
    public boolean takeSearchesExhausted() {
        boolean before = searchesExhausted;
        searchesExhausted = false;
        return before;
    }

    private Optional<EvictionPlan> planConsolidation(
            Transaction transaction,
            Preemptor preemptor,
            MoveFeasibility moveFeasibility,
            SolutionValidator solutionValidator) {
        // Excludes the preemptor itself, which may be a running workload that requests more workers.
        Predicate<EvictionUnit> candidate =
                evictionUnit -> !evictionUnit.candidate().id().equals(preemptor.id());
        PoolId pool = preemptor.poolCapacity().pool().id();
        List<SortedSet<NodeId>> targets = targets(preemptor);
        int tried = 0;
        for (SortedSet<NodeId> target : emptiestFirst(preemptor, targets, candidate)) {
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> movable =
                    movable(preemptor, target, movable(pool, target), candidate, moveFeasibility);
            if (!movable.isEmpty()) {
                if (++tried > MAX_AREAS) {
                    break;
                }
                targetsLeft--;
                VictimQueue queue = VictimQueue.ofGroups(
                        rootOf(preemptor), preemptor.path().tenant(), movable, evictionUnit -> true);
                Optional<EvictionPlan> evictionPlan = moveSearch(
                                transaction,
                                preemptor,
                                node -> target.contains(node.id()),
                                solutionValidator,
                                MAX_MOVES)
                        .run(queue)
                        .flatMap(solutionValidator::acceptIfAllMove);
                if (evictionPlan.isPresent()) {
                    return evictionPlan;
                }
            }
        }
        return targets.size() <= MAX_AREAS
                ? planConsolidationAnywhere(transaction, preemptor, candidate, solutionValidator)
                : Optional.empty();
    }

    /**
     * Moves with victims from several nodes, which may exchange places. In a large pool they seldom help, except for a
     * request of several workers that may be anywhere, which has no targets.
     */
    private Optional<EvictionPlan> planConsolidationAnywhere(
            Transaction transaction,
            Preemptor preemptor,
            Predicate<EvictionUnit> candidate,
            SolutionValidator solutionValidator) {
        PoolId pool = preemptor.poolCapacity().pool().id();
        targetsLeft--;
        VictimQueue all = new VictimQueue(
                rootOf(preemptor),
                preemptor.path().tenant(),
                path -> runningWork.movables(pool, path),
                candidate.and(this::mayMove));
        return moveSearch(transaction, preemptor, node -> true, solutionValidator, MAX_MOVES_ANYWHERE)
                .run(all)
                .flatMap(solutionValidator::acceptIfAllMove);
    }

    /** The targets in their order; of equally empty ones, the one whose first victim would go before the others. */
    private Iterable<SortedSet<NodeId>> emptiestFirst(
            Preemptor preemptor, List<SortedSet<NodeId>> targets, Predicate<EvictionUnit> candidate) {
        PoolCapacity poolCapacity = preemptor.poolCapacity();
        return () -> new Iterator<>() {
            private final List<SortedSet<NodeId>> equal = new ArrayList<>();
            private int next;

            @Override
            public boolean hasNext() {
                return !equal.isEmpty() || next < targets.size();
            }

            @Override
            public SortedSet<NodeId> next() {
                if (equal.isEmpty()) {
                    long free = free(poolCapacity, targets.get(next));
                    while (next < targets.size() && free(poolCapacity, targets.get(next)) == free) {
                        equal.add(targets.get(next++));
                    }
                    if (equal.size() > 1) {
                        sortByFirstToGo(poolCapacity.pool().id(), equal, candidate);
                    }
                }
                return equal.removeFirst();
            }
        };
    }

    private static long free(PoolCapacity poolCapacity, SortedSet<NodeId> target) {
        long free = 0;
        for (NodeId node : target) {
            free += poolCapacity.freeGpuMilli(node, Availability.AFTER_RELEASES);
        }
        return free;
    }

    private void sortByFirstToGo(PoolId pool, List<SortedSet<NodeId>> targets, Predicate<EvictionUnit> candidate) {
        Map<SortedSet<NodeId>, EvictionUnit> firstToGo = new IdentityHashMap<>();
        for (SortedSet<NodeId> target : targets) {
            for (SortedSet<EvictionUnit> ofGroup : movable(pool, target).values()) {
                ofGroup.stream()
                        .filter(candidate)
                        .findFirst()
                        .ifPresent(unit -> firstToGo.merge(
                                target, unit, (a, b) -> EvictionUnit.FIRST_TO_GO.compare(a, b) <= 0 ? a : b));
            }
        }
        targets.sort((a, b) -> {
            EvictionUnit ofA = firstToGo.get(a);
            EvictionUnit ofB = firstToGo.get(b);
            return ofA == null || ofB == null
                    ? Boolean.compare(ofA == null, ofB == null)
                    : EvictionUnit.FIRST_TO_GO.compare(ofA, ofB);
        });
    }

    private boolean mayMove(EvictionUnit evictionUnit) {
        return rules.pastMinRuntime(evictionUnit.candidate()) && rules.isReadmissible(evictionUnit.candidate());
    }

    /** The work on a target that may be moved for some preemptor. */
    private SortedMap<QuotaPath, SortedSet<EvictionUnit>> movable(PoolId pool, SortedSet<NodeId> target) {
        UnitsByNode units = runningWork.movables(pool);
        return target.size() == 1
                ? movables.computeIfAbsent(target.first(), node -> filterUnits(units.on(node), this::mayMove))
                : filterUnits(units.on(target), this::mayMove);
    }

    private static SortedMap<QuotaPath, SortedSet<EvictionUnit>> filterUnits(
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> units, Predicate<EvictionUnit> condition) {
        SortedMap<QuotaPath, SortedSet<EvictionUnit>> some = new TreeMap<>();
        for (Map.Entry<QuotaPath, SortedSet<EvictionUnit>> ofGroup : units.entrySet()) {
            SortedSet<EvictionUnit> left = new TreeSet<>(EvictionUnit.FIRST_TO_GO);
            ofGroup.getValue().stream().filter(condition).forEach(left::add);
            if (!left.isEmpty()) {
                some.put(ofGroup.getKey(), left);
            }
        }
        return some;
    }

    /** The work that may be moved to make room in a target; none if that certainly makes no room. */
    private static SortedMap<QuotaPath, SortedSet<EvictionUnit>> movable(
            Preemptor preemptor,
            SortedSet<NodeId> target,
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> there,
            Predicate<EvictionUnit> candidate,
            MoveFeasibility moveFeasibility) {
        Predicate<EvictionUnit> mayMove = candidate;
        if (preemptor.placementRequest().workers() == 1) {
            NodeId node = target.first();
            List<EvictionUnit> onNode = matchingUnits(there, candidate);
            if (!moveFeasibility.couldMakeRoom(preemptor.placementRequest(), node, onNode)) {
                return Collections.emptySortedMap();
            }
            // A gang that moves first may make room elsewhere for others.
            boolean hasGang = onNode.stream()
                    .anyMatch(unit -> unit.candidate().allocation().workers().size() > 1);
            PlacementRequest request = preemptor.placementRequest();
            mayMove = hasGang ? candidate : candidate.and(unit -> moveFeasibility.couldGiveWay(request, unit, node));
        }
        return filterUnits(there, mayMove);
    }

    private static List<EvictionUnit> matchingUnits(
            SortedMap<QuotaPath, SortedSet<EvictionUnit>> units, Predicate<EvictionUnit> candidate) {
        List<EvictionUnit> inside = new ArrayList<>();
        for (SortedSet<EvictionUnit> ofGroup : units.values()) {
            for (EvictionUnit evictionUnit : ofGroup) {
                if (candidate.test(evictionUnit)) {
                    inside.add(evictionUnit);
                }
            }
        }
        return inside;
    }

    /** The nodes or domains in which room might be made, the emptiest first. */
    private List<SortedSet<NodeId>> targets(Preemptor preemptor) {
        List<SortedSet<NodeId>> known = targets;
        if (known == null) {
            known = preemptor.poolCapacity().candidateDomains(preemptor.placementRequest());
            targets = known;
        }
        return known;
    }

    /** A search that continues until every chosen workload has another place. */
    private VictimSearch moveSearch(
            Transaction transaction,
            Preemptor preemptor,
            Predicate<Node> nodes,
            SolutionValidator solutionValidator,
            int maxVictims) {
        return new VictimSearch(
                transaction, preemptor, nodes, VictimQueue.Allowed.all(), solutionValidator::canAllMove, maxVictims);
    }

    private Optional<EvictionPlan> planEviction(
            Transaction transaction,
            Preemptor preemptor,
            EvictionScope evictionScope,
            SolutionValidator solutionValidator) {
        PoolId pool = preemptor.poolCapacity().pool().id();
        QuotaNode root = rootOf(preemptor);
        Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> running =
                path -> runningWork.running(pool, path).units();
        Predicate<EvictionUnit> candidate =
                evictionUnit -> mayBeChosen(preemptor, evictionScope, evictionUnit.candidate());
        VictimQueue.Allowed allowed = allowedEvictions(preemptor, evictionScope);
        String tenant = preemptor.path().tenant();
        VictimQueue all = new VictimQueue(root, tenant, running, candidate);
        if (!all.hasVictim(allowed)) {
            return Optional.empty();
        }
        UnitsByNode byNode = runningWork.byNode(pool);
        EvictableAmounts amounts = new EvictableAmounts(
                rules,
                preemptor,
                mayGiveFirst(preemptor, evictionScope, candidate, allowed),
                evictionScope.fromOthers ? ofItsTenant(preemptor) : Collections.emptySortedMap(),
                candidate);
        SortedSet<EvictionUnit> ownUnits =
                runningWork.running(pool, preemptor.path()).units();
        if (!amounts.couldAdmit(evictionScope.fromOthers ? runningWork.running(pool) : own(preemptor, ownUnits))) {
            return Optional.empty();
        }
        boolean isForOneNode = preemptor.placementRequest().workers() == 1
                && preemptor.poolCapacity().pool().capacity() instanceof Pool.Capacity.Nodes;
        boolean onOwnNodes = isForOneNode && !evictionScope.fromOthers && onlyDevicesAreMissing(preemptor);
        if (isForOneNode
                && (onOwnNodes
                        ? nodesOf(preemptor, ownUnits, byNode, amounts).isEmpty()
                        : targets(preemptor).stream().noneMatch(node -> amounts.couldHold(node.first(), byNode)))) {
            return Optional.empty();
        }
        Optional<EvictionPlan> anywhere = new VictimSearch(transaction, preemptor, node -> true, allowed)
                .run(all)
                .flatMap(solutionValidator::acceptIfPermitted);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        List<SortedSet<NodeId>> areas = isForOneNode && !evictionScope.fromOthers
                ? nodesOf(preemptor, ownUnits, byNode, amounts)
                : areas(targets(preemptor), byNode, amounts, isForOneNode);
        for (SortedSet<NodeId> area : areas) {
            VictimQueue inArea = VictimQueue.ofGroups(root, tenant, byNode.on(area), candidate);
            Optional<EvictionPlan> evictionPlan = new VictimSearch(
                            transaction, preemptor, node -> area.contains(node.id()), allowed)
                    .run(inArea)
                    .flatMap(solutionValidator::acceptIfPermitted);
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        return Optional.empty();
    }

    /** Whether no bound is in the way, which victims on other nodes might remove. */
    private static boolean onlyDevicesAreMissing(Preemptor preemptor) {
        return QuotaAdmission.projected(preemptor.quotaRequest()).isEmpty()
                && !(preemptor.poolCapacity().pool().capacity() instanceof Pool.Capacity.Nodes nodes
                        && nodes.maxGpuMilli().isPresent());
    }

    /** The groups of which some unit is permitted as the first victim of a search. */
    private Predicate<QuotaPath> mayGiveFirst(
            Preemptor preemptor,
            EvictionScope evictionScope,
            Predicate<EvictionUnit> candidate,
            VictimQueue.Allowed allowed) {
        if (!evictionScope.fromOthers) {
            return path -> path.equals(preemptor.path());
        }
        SortedMap<QuotaPath, SortedSet<EvictionUnit>> running =
                runningWork.running(preemptor.poolCapacity().pool().id());
        return path -> anyPermitted(running.getOrDefault(path, Collections.emptySortedSet()), candidate, allowed);
    }

    /** The running work of the preemptor's tenant in its pool, by group. */
    private SortedMap<QuotaPath, SortedSet<EvictionUnit>> ofItsTenant(Preemptor preemptor) {
        String tenant = preemptor.path().tenant();
        SortedMap<QuotaPath, SortedSet<EvictionUnit>> groups = new TreeMap<>();
        for (Map.Entry<QuotaPath, SortedSet<EvictionUnit>> ofGroup : runningWork
                .running(preemptor.poolCapacity().pool().id())
                .tailMap(QuotaPath.of(tenant))
                .entrySet()) {
            if (!ofGroup.getKey().tenant().equals(tenant)) {
                break;
            }
            groups.put(ofGroup.getKey(), ofGroup.getValue());
        }
        return groups;
    }

    private static boolean anyPermitted(
            SortedSet<EvictionUnit> ofGroup, Predicate<EvictionUnit> candidate, VictimQueue.Allowed allowed) {
        for (EvictionUnit evictionUnit : ofGroup) {
            if (candidate.test(evictionUnit)) {
                if (allowed.permitsUnit(evictionUnit)) {
                    return true;
                }
                if (!allowed.isApart(evictionUnit)) {
                    return false;
                }
            }
        }
        return false;
    }

    private static SortedMap<QuotaPath, SortedSet<EvictionUnit>> own(
            Preemptor preemptor, SortedSet<EvictionUnit> units) {
        return units.isEmpty()
                ? Collections.emptySortedMap()
                : new TreeMap<>(Map.<QuotaPath, SortedSet<EvictionUnit>>of(preemptor.path(), units));
    }

    /** The areas in which enough could be evicted. */
    private static List<SortedSet<NodeId>> areas(
            List<SortedSet<NodeId>> domains, UnitsByNode byNode, EvictableAmounts amounts, boolean areNodes) {
        List<SortedSet<NodeId>> areas = new ArrayList<>();
        for (SortedSet<NodeId> area : domains) {
            if (amounts.couldFree(area, byNode) && (!areNodes || amounts.couldHold(area.first(), byNode))) {
                areas.add(area);
            }
        }
        return areas;
    }

    /** Like {@link #areas}, for victims of the preemptor's own group alone, which are on few nodes. */
    private List<SortedSet<NodeId>> nodesOf(
            Preemptor preemptor, SortedSet<EvictionUnit> ownUnits, UnitsByNode byNode, EvictableAmounts amounts) {
        Set<NodeId> concerned = new TreeSet<>();
        ownUnits.forEach(evictionUnit -> concerned.addAll(evictionUnit.concernedNodes()));
        Set<NodeId> enough = new HashSet<>();
        for (NodeId node : concerned) {
            if (amounts.couldFree(new TreeSet<>(List.of(node)), byNode) && amounts.couldHold(node, byNode)) {
                enough.add(node);
            }
        }
        List<SortedSet<NodeId>> areas = new ArrayList<>();
        for (SortedSet<NodeId> target : enough.isEmpty() ? List.<SortedSet<NodeId>>of() : targets(preemptor)) {
            if (enough.contains(target.first())) {
                areas.add(target);
            }
        }
        return areas;
    }

    /** Whether a candidate may be chosen at all, as far as this does not depend on the use at the moment of choice. */
    private boolean mayBeChosen(Preemptor preemptor, EvictionScope evictionScope, EvictionCandidate evictionCandidate) {
        boolean own = evictionCandidate.booking().path().equals(preemptor.path());
        return own
                ? evictionScope.fromOwnGroup
                        && rules.mayPreempt(preemptor, evictionCandidate)
                        && rules.pastMinRuntime(evictionCandidate)
                : evictionScope.fromOthers && rules.pastReclaimMinRuntime(evictionCandidate);
    }

    private VictimQueue.Allowed allowedEvictions(Preemptor preemptor, EvictionScope evictionScope) {
        return new VictimQueue.Allowed() {
            @Override
            public boolean permitsBranch(QuotaNode branch) {
                return rules.mayTakeFrom(preemptor, branch, evictionScope.fromOthers);
            }

            @Override
            public boolean permitsUnit(EvictionUnit evictionUnit) {
                return rules.mayEvict(preemptor, evictionUnit.candidate());
            }

            @Override
            public boolean isApart(EvictionUnit evictionUnit) {
                return rules.hasItsTimeSlice(evictionUnit.candidate());
            }

            @Override
            public int rightsAgainstOtherTenants() {
                return rules.rightsAgainstOtherTenants(preemptor);
            }
        };
    }

    /** The root of the tree that orders the victims: the pool's tree, otherwise the tree over all pools. */
    private static QuotaNode rootOf(Preemptor preemptor) {
        return preemptor.quotaRequest().leaves().getFirst().tree().root();
    }
}
