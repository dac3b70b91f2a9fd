package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.View;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Makes room for one claimant in one pool, from the least disruptive way to the most: moving work, taking back from
 * other groups, stopping lower priority, and the last two together. It only simulates: what it returns is still to be
 * done.
 *
 * <p>Moving asks no right, so whether it makes room depends on what is asked for and on what is held, not on who waits for it. What it
 * could not make for one it is not tried for again for another who asks the same, until something is decided; but for whoever runs and asks for more, who is not moved for itself.
 */
public final class EvictionPlanner {
    /** More moves than this for one start are not worth it. */
    private static final int MOST_MOVES = 32;

    /** Nodes or domains to clear by moving that are tried for one start; those with the most free room come first. */
    private static final int MOST_AREAS = 16;

    private final Settings settings;
    private final Cluster cluster;
    private final RunningWork work;
    private final EvictionRules rules;
    private final Set<RequestSignature> notByConsolidation = new HashSet<>();
    private final Map<PoolId, MoveFeasibility> moveFeasibility = new HashMap<>();

    public EvictionPlanner(
            Settings settings, Cluster cluster, RunningWork work, ChurnGuard churnGuard, long nowMillis) {
        this.settings = settings;
        this.cluster = cluster;
        this.work = work;
        this.rules = new EvictionRules(settings, cluster, churnGuard, nowMillis);
    }

    /** Whom a way of making room may stop. */
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

    /** What is held is not what it was. */
    public void invalidate() {
        notByConsolidation.clear();
        moveFeasibility.clear();
    }

    /**
     * The room that can be made with the least disruption, or none.
     *
     * @param kind of the request, where it does not depend on who asks; while nothing is kept for others
     */
    public Optional<EvictionPlan> plan(Preemptor preemptor, Optional<RequestSignature> requestSignature) {
        Optional<QuotaAdmission.Violation> violation = QuotaAdmission.projected(preemptor.quotaRequest());
        if (violation.isPresent() && !isRemovable(violation.get().bound())) {
            return Optional.empty();
        }
        SolutionValidator solutionValidator = new SolutionValidator(cluster, rules, preemptor);
        if (violation.isEmpty()) {
            Optional<EvictionPlan> evictionPlan = fromPendingReleases(preemptor)
                    .or(() -> byConsolidation(preemptor, requestSignature, solutionValidator));
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        if (preemptor.allowedActions() == Preemptor.AllowedActions.MOVING_ONLY) {
            return Optional.empty();
        }
        boolean onlyOwnGroupHelps =
                violation.isPresent() && violation.get().cap().isPresent();
        List<EvictionUnit> lower = ofLowerPriority(preemptor);
        boolean onlyBack = preemptor.allowedActions() == Preemptor.AllowedActions.TAKING_BACK_RESERVED;
        for (EvictionScope evictionScope :
                onlyBack ? List.of(EvictionScope.RECLAIM) : List.of(EvictionScope.values())) {
            boolean possible = (!evictionScope.fromOthers
                            || rules.couldReclaim(
                                    preemptor.quotaRequest(), evictionScope.fromOwnGroup ? lower : List.of()))
                    && (!evictionScope.fromOwnGroup || !lower.isEmpty())
                    && (evictionScope.fromOwnGroup || !onlyOwnGroupHelps);
            Optional<EvictionPlan> evictionPlan =
                    possible ? byEviction(preemptor, evictionScope, solutionValidator) : Optional.empty();
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        return Optional.empty();
    }

    /**
     * The move of running work to another pool, to a place that is free at once and that nobody has to give way for; empty if there is none,
     * or if it may not be moved.
     *
     * @param ask what it would ask for there
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
        cluster.remove(evictionCandidate.booking(), View.PROJECTED);
        Optional<Allocation> place = QuotaAdmission.projected(quotaRequest).isEmpty()
                ? poolCapacity.place(placementRequest, Availability.NOW)
                : Optional.empty();
        Optional<EvictionPlan.Eviction> move = place.map(found -> {
            Booking there = evictionCandidate.booking().at(found);
            cluster.addToTrees(there, View.PROJECTED);
            List<EvictionReceipt.Share> after =
                    nodes.stream().map(QuotaNode::share).toList();
            cluster.removeFromTrees(there, View.PROJECTED);
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
        cluster.add(evictionCandidate.booking(), View.PROJECTED);
        return move;
    }

    /** The work of lower priority in the claimant's own group. */
    private List<EvictionUnit> ofLowerPriority(Preemptor preemptor) {
        return work.running(preemptor.space().pool().id(), preemptor.path()).below(preemptor.priority());
    }

    /**
     * What can be told without a search, from what concerns the group itself: a bound of its own may be in the way, and there may be nobody whom it might
     * stop.
     *
     * @param ofGroup who runs of the group in the pool
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

    /** The fenced group or tenant that keeps a claimant from taking back what it could without the fence; empty where none does. */
    public Optional<QuotaPath> fenceInTheWay(Preemptor preemptor) {
        if (preemptor.quotaRequest().leaves().stream()
                .noneMatch(leaf -> leaf.tree().hasFences())) {
            return Optional.empty();
        }
        for (SortedSet<EvictionUnit> ofGroup :
                work.running(preemptor.space().pool().id()).values()) {
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

    /** What comes free anyway, once those who were told to stop have left. */
    private Optional<EvictionPlan> fromPendingReleases(Preemptor preemptor) {
        return preemptor
                .space()
                .place(preemptor.request(), Availability.AFTER_RELEASES)
                .map(place -> new EvictionPlan(place, List.of()));
    }

    private Optional<EvictionPlan> byConsolidation(
            Preemptor preemptor, Optional<RequestSignature> requestSignature, SolutionValidator solutionValidator) {
        if (requestSignature.isPresent() && notByConsolidation.contains(requestSignature.get())) {
            return Optional.empty();
        }
        Optional<EvictionPlan> evictionPlan = settings.consolidate()
                        && preemptor.space().couldFitRearranged(preemptor.request())
                ? byConsolidation(
                        preemptor, moveFeasibility(preemptor.space(), requestSignature.isPresent()), solutionValidator)
                : Optional.empty();
        if (evictionPlan.isEmpty()) {
            requestSignature.ifPresent(notByConsolidation::add);
        }
        return evictionPlan;
    }

    /** What is known of who could leave a node is the same for all until something is decided, unless places are kept for some. */
    private MoveFeasibility moveFeasibility(PoolCapacity poolCapacity, boolean forAll) {
        return forAll
                ? moveFeasibility.computeIfAbsent(poolCapacity.pool().id(), id -> new MoveFeasibility(poolCapacity))
                : new MoveFeasibility(poolCapacity);
    }

    private Optional<EvictionPlan> byConsolidation(
            Preemptor preemptor, MoveFeasibility moveFeasibility, SolutionValidator solutionValidator) {
        MovableCandidates movableCandidates =
                work.movables(preemptor.space().pool().id());
        // Not the claimant itself, which may ask for more workers.
        Predicate<EvictionUnit> candidate =
                evictionUnit -> !evictionUnit.candidate().id().equals(preemptor.id())
                        && rules.pastMinRuntime(evictionUnit.candidate())
                        && rules.isReadmissible(evictionUnit.candidate());
        QuotaNode root = rootOf(preemptor);
        VictimQueue all = new VictimQueue(root, movableCandidates::ofGroup, candidate);
        Optional<EvictionPlan> anywhere =
                toMove(preemptor, node -> true, solutionValidator).run(all).flatMap(solutionValidator::acceptIfAllMove);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        PlacementRequest placementRequest = preemptor.request();
        int tried = 0;
        for (SortedSet<NodeId> area : preemptor.space().candidateDomains(placementRequest)) {
            boolean oneNode = placementRequest.workers() == 1 && area.size() == 1;
            if (oneNode
                    && !moveFeasibility.couldMakeRoom(
                            placementRequest, area.first(), inArea(movableCandidates, area, candidate))) {
                continue;
            }
            if (++tried > MOST_AREAS) {
                break;
            }
            VictimQueue queue = new VictimQueue(root, movableCandidates.on(area)::get, candidate);
            Optional<EvictionPlan> evictionPlan = toMove(preemptor, node -> area.contains(node.id()), solutionValidator)
                    .run(queue)
                    .flatMap(solutionValidator::acceptIfAllMove);
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        return Optional.empty();
    }

    private static List<EvictionUnit> inArea(
            MovableCandidates movableCandidates, SortedSet<NodeId> area, Predicate<EvictionUnit> candidate) {
        List<EvictionUnit> inside = new ArrayList<>();
        for (SortedSet<EvictionUnit> ofGroup : movableCandidates.on(area).values()) {
            for (EvictionUnit evictionUnit : ofGroup) {
                if (candidate.test(evictionUnit)) {
                    inside.add(evictionUnit);
                }
            }
        }
        return inside;
    }

    /** A search that goes on until all whom it chose have another place. */
    private VictimSearch toMove(Preemptor preemptor, Predicate<Node> nodes, SolutionValidator solutionValidator) {
        return new VictimSearch(
                cluster, preemptor, nodes, VictimQueue.Allowed.all(), solutionValidator::allMove, MOST_MOVES);
    }

    private Optional<EvictionPlan> byEviction(
            Preemptor preemptor, EvictionScope evictionScope, SolutionValidator solutionValidator) {
        PoolId pool = preemptor.space().pool().id();
        QuotaNode root = rootOf(preemptor);
        Function<QuotaPath, @Nullable SortedSet<EvictionUnit>> running =
                path -> work.running(pool, path).units();
        Predicate<EvictionUnit> candidate =
                evictionUnit -> mayBeChosen(preemptor, evictionScope, evictionUnit.candidate());
        VictimQueue.Allowed allowed = toEvict(preemptor, evictionScope);
        VictimQueue all = new VictimQueue(root, running, candidate);
        if (!all.anybody(allowed)) {
            return Optional.empty();
        }
        Optional<EvictionPlan> anywhere = new VictimSearch(cluster, preemptor, node -> true, allowed)
                .run(all)
                .flatMap(solutionValidator::acceptIfPermitted);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        for (SortedSet<NodeId> area : preemptor.space().candidateDomains(preemptor.request())) {
            VictimQueue inArea =
                    new VictimQueue(root, running, candidate.and(evictionUnit -> evictionUnit.concerns(area)));
            Optional<EvictionPlan> evictionPlan =
                    search(preemptor, area, allowed).run(inArea).flatMap(solutionValidator::acceptIfPermitted);
            if (evictionPlan.isPresent()) {
                return evictionPlan;
            }
        }
        return Optional.empty();
    }

    /** Whom a way may stop, as far as that does not depend on what is used at the moment of choice. */
    private boolean mayBeChosen(Preemptor preemptor, EvictionScope evictionScope, EvictionCandidate evictionCandidate) {
        boolean own = evictionCandidate.booking().path().equals(preemptor.path());
        return own
                ? evictionScope.fromOwnGroup
                        && rules.toPreempt(preemptor, evictionCandidate)
                        && rules.pastMinRuntime(evictionCandidate)
                : evictionScope.fromOthers && rules.pastReclaimMinRuntime(evictionCandidate);
    }

    private VictimQueue.Allowed toEvict(Preemptor preemptor, EvictionScope evictionScope) {
        return new VictimQueue.Allowed() {
            @Override
            public boolean under(QuotaNode branch) {
                return rules.mayTakeFrom(preemptor, branch, evictionScope.fromOthers);
            }

            @Override
            public boolean unit(EvictionUnit evictionUnit) {
                return rules.mayEvict(preemptor, evictionUnit.candidate());
            }

            @Override
            public boolean isApart(EvictionUnit evictionUnit) {
                return rules.hasItsTimeSlice(evictionUnit.candidate());
            }
        };
    }

    /** Of the tree down which victims are chosen: the pool's, else that over all pools. */
    private static QuotaNode rootOf(Preemptor preemptor) {
        return preemptor.quotaRequest().leaves().getFirst().tree().root();
    }

    private VictimSearch search(Preemptor preemptor, SortedSet<NodeId> area, VictimQueue.Allowed allowed) {
        return new VictimSearch(cluster, preemptor, node -> area.contains(node.id()), allowed);
    }
}
