package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Cause;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Receipt;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.When;
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
public final class RoomMaker {
    /** More moves than this for one start are not worth it. */
    private static final int MOST_MOVES = 32;

    /** Nodes or domains to clear by moving that are tried for one start; those with the most free room come first. */
    private static final int MOST_AREAS = 16;

    private final Settings settings;
    private final Cluster cluster;
    private final RunningWork work;
    private final Rights rights;
    private final Set<Kind> notByMoving = new HashSet<>();
    private final Map<PoolId, Leavers> leavers = new HashMap<>();

    public RoomMaker(Settings settings, Cluster cluster, RunningWork work, Stops stops, long nowMillis) {
        this.settings = settings;
        this.cluster = cluster;
        this.work = work;
        this.rights = new Rights(settings, cluster, stops, nowMillis);
    }

    /** Whom a way of making room may stop. */
    private enum Way {
        RECLAIM(true, false),
        PREEMPT(false, true),
        BOTH(true, true);

        private final boolean fromOthers;
        private final boolean fromOwnGroup;

        Way(boolean fromOthers, boolean fromOwnGroup) {
            this.fromOthers = fromOthers;
            this.fromOwnGroup = fromOwnGroup;
        }
    }

    /** What is held is not what it was. */
    public void decided() {
        notByMoving.clear();
        leavers.clear();
    }

    /**
     * The room that can be made with the least disruption, or none.
     *
     * @param kind of the request, where it does not depend on who asks; while nothing is kept for others
     */
    public Optional<Room> makeRoom(Claimant claimant, Optional<Kind> kind) {
        Optional<Admission.Hit> hit = Admission.later(claimant.ask());
        if (hit.isPresent() && !curable(hit.get().bound())) {
            return Optional.empty();
        }
        Outcome outcome = new Outcome(cluster, rights, claimant);
        if (hit.isEmpty()) {
            Optional<Room> room = leftByOthers(claimant).or(() -> byMoving(claimant, kind, outcome));
            if (room.isPresent()) {
                return room;
            }
        }
        if (claimant.means() == Claimant.Means.MOVING_ONLY) {
            return Optional.empty();
        }
        boolean onlyOwnGroupHelps = hit.isPresent() && hit.get().ceiling().isPresent();
        List<Unit> lower = ofLowerPriority(claimant);
        boolean onlyBack = claimant.means() == Claimant.Means.TAKING_BACK_RESERVED;
        for (Way way : onlyBack ? List.of(Way.RECLAIM) : List.of(Way.values())) {
            boolean possible =
                    (!way.fromOthers || rights.couldReclaim(claimant.ask(), way.fromOwnGroup ? lower : List.of()))
                            && (!way.fromOwnGroup || !lower.isEmpty())
                            && (way.fromOwnGroup || !onlyOwnGroupHelps);
            Optional<Room> room = possible ? byStopping(claimant, way, outcome) : Optional.empty();
            if (room.isPresent()) {
                return room;
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
    public Optional<Room.Eviction> elsewhere(Holder holder, Space space, Ask ask, Request request) {
        if (!rights.oldEnough(holder)) {
            return Optional.empty();
        }
        List<QuotaNode> nodes = new ArrayList<>(ask.leaves());
        for (QuotaNode leaf : cluster.bindingLeaves(
                holder.allocation().pool(), holder.tenure().path())) {
            if (!nodes.contains(leaf)) {
                nodes.add(leaf);
            }
        }
        List<Receipt.Share> before = nodes.stream().map(QuotaNode::share).toList();
        cluster.remove(holder.tenure(), When.NEXT);
        Optional<Allocation> place =
                Admission.later(ask).isEmpty() ? space.place(request, Horizon.AT_ONCE) : Optional.empty();
        Optional<Room.Eviction> move = place.map(found -> {
            Tenure there = holder.tenure().at(found);
            cluster.addToTrees(there, When.NEXT);
            List<Receipt.Share> after = nodes.stream().map(QuotaNode::share).toList();
            cluster.removeFromTrees(there, When.NEXT);
            List<Receipt.Considered> considered = List.of(new Receipt.Considered(holder.id(), Receipt.Outcome.MOVED));
            Receipt receipt = new Receipt(Receipt.Right.MOVED, before, after, considered);
            return new Room.Eviction(holder, holder.tenure(), true, Cause.CONSOLIDATE, place, receipt);
        });
        cluster.add(holder.tenure(), When.NEXT);
        return move;
    }

    /** The work of lower priority in the claimant's own group. */
    private List<Unit> ofLowerPriority(Claimant claimant) {
        return work.running(claimant.space().pool().id(), claimant.path()).below(claimant.priority());
    }

    /**
     * What can be told without a search, from what concerns the group itself: a bound of its own may be in the way, and there may be nobody whom it might
     * stop.
     *
     * @param ofGroup who runs of the group in the pool
     */
    public Hope hope(Ask ask, int priority, Runners ofGroup) {
        boolean nobodyToStop = ofGroup.lowestPriority() >= priority && !rights.couldReclaim(ask, List.of());
        Optional<Admission.Hit> hit = Admission.ofTenantLater(ask);
        if (hit.isPresent() && (nobodyToStop || !curable(hit.get().bound()))) {
            return Hope.NONE;
        }
        return nobodyToStop ? Hope.OF_WHAT_IS_FREE : Hope.PERHAPS;
    }

    /** The fenced group or tenant that keeps a claimant from taking back what it could without the fence; empty where none does. */
    public Optional<QuotaPath> fenceInTheWay(Claimant claimant) {
        if (claimant.ask().leaves().stream().noneMatch(leaf -> leaf.tree().hasFences())) {
            return Optional.empty();
        }
        for (SortedSet<Unit> ofGroup :
                work.running(claimant.space().pool().id()).values()) {
            for (Unit unit : ofGroup) {
                Holder holder = unit.holder();
                boolean other = !holder.tenure().path().equals(claimant.path());
                Optional<QuotaPath> fence = other && rights.oldEnoughToBeReclaimed(holder)
                        ? rights.fenceInTheWay(claimant, holder)
                        : Optional.empty();
                if (fence.isPresent()) {
                    return fence;
                }
            }
        }
        return Optional.empty();
    }

    private static boolean curable(Admission.Bound bound) {
        return switch (bound) {
            case UNNAMED, NOT_PREEMPTIBLE -> false;
            case LIMIT, USER_CAP, WORKLOAD_CAP, OVER_QUOTA_OFF, HELD_FOR_OTHERS, CAPACITY -> true;
        };
    }

    /** What comes free anyway, once those who were told to stop have left. */
    private Optional<Room> leftByOthers(Claimant claimant) {
        return claimant.space().place(claimant.request(), Horizon.LATER).map(place -> new Room(place, List.of()));
    }

    private Optional<Room> byMoving(Claimant claimant, Optional<Kind> kind, Outcome outcome) {
        if (kind.isPresent() && notByMoving.contains(kind.get())) {
            return Optional.empty();
        }
        Optional<Room> room = settings.consolidate() && claimant.space().couldFitRearranged(claimant.request())
                ? byMoving(claimant, leavers(claimant.space(), kind.isPresent()), outcome)
                : Optional.empty();
        if (room.isEmpty()) {
            kind.ifPresent(notByMoving::add);
        }
        return room;
    }

    /** What is known of who could leave a node is the same for all until something is decided, unless places are kept for some. */
    private Leavers leavers(Space space, boolean forAll) {
        return forAll ? leavers.computeIfAbsent(space.pool().id(), id -> new Leavers(space)) : new Leavers(space);
    }

    private Optional<Room> byMoving(Claimant claimant, Leavers leavers, Outcome outcome) {
        Movables movables = work.movables(claimant.space().pool().id());
        // Not the claimant itself, which may ask for more workers.
        Predicate<Unit> candidate = unit -> !unit.holder().id().equals(claimant.id())
                && rights.oldEnough(unit.holder())
                && rights.mayStartAgain(unit.holder());
        QuotaNode root = rootOf(claimant);
        VictimQueue all = new VictimQueue(root, movables::ofGroup, candidate);
        Optional<Room> anywhere =
                toMove(claimant, node -> true, outcome).among(all).flatMap(outcome::ifAllMove);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        Request request = claimant.request();
        int tried = 0;
        for (SortedSet<NodeId> area : claimant.space().areas(request)) {
            boolean oneNode = request.workers() == 1 && area.size() == 1;
            if (oneNode && !leavers.couldMakeRoom(request, area.first(), inArea(movables, area, candidate))) {
                continue;
            }
            if (++tried > MOST_AREAS) {
                break;
            }
            VictimQueue queue = new VictimQueue(root, movables.on(area)::get, candidate);
            Optional<Room> room = toMove(claimant, node -> area.contains(node.id()), outcome)
                    .among(queue)
                    .flatMap(outcome::ifAllMove);
            if (room.isPresent()) {
                return room;
            }
        }
        return Optional.empty();
    }

    private static List<Unit> inArea(Movables movables, SortedSet<NodeId> area, Predicate<Unit> candidate) {
        List<Unit> inside = new ArrayList<>();
        for (SortedSet<Unit> ofGroup : movables.on(area).values()) {
            for (Unit unit : ofGroup) {
                if (candidate.test(unit)) {
                    inside.add(unit);
                }
            }
        }
        return inside;
    }

    /** A search that goes on until all whom it chose have another place. */
    private Search toMove(Claimant claimant, Predicate<Node> nodes, Outcome outcome) {
        return new Search(cluster, claimant, nodes, VictimQueue.Allowed.all(), outcome::allMove, MOST_MOVES);
    }

    private Optional<Room> byStopping(Claimant claimant, Way way, Outcome outcome) {
        PoolId pool = claimant.space().pool().id();
        QuotaNode root = rootOf(claimant);
        Function<QuotaPath, @Nullable SortedSet<Unit>> running =
                path -> work.running(pool, path).units();
        Predicate<Unit> candidate = unit -> mayBeChosen(claimant, way, unit.holder());
        VictimQueue.Allowed allowed = toStop(claimant, way);
        VictimQueue all = new VictimQueue(root, running, candidate);
        if (!all.anybody(allowed)) {
            return Optional.empty();
        }
        Optional<Room> anywhere =
                new Search(cluster, claimant, node -> true, allowed).among(all).flatMap(outcome::ifRightful);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        for (SortedSet<NodeId> area : claimant.space().areas(claimant.request())) {
            VictimQueue inArea = new VictimQueue(root, running, candidate.and(unit -> unit.concerns(area)));
            Optional<Room> room = search(claimant, area, allowed).among(inArea).flatMap(outcome::ifRightful);
            if (room.isPresent()) {
                return room;
            }
        }
        return Optional.empty();
    }

    /** Whom a way may stop, as far as that does not depend on what is used at the moment of choice. */
    private boolean mayBeChosen(Claimant claimant, Way way, Holder holder) {
        boolean own = holder.tenure().path().equals(claimant.path());
        return own
                ? way.fromOwnGroup && rights.toPreempt(claimant, holder) && rights.oldEnough(holder)
                : way.fromOthers && rights.oldEnoughToBeReclaimed(holder);
    }

    private VictimQueue.Allowed toStop(Claimant claimant, Way way) {
        return new VictimQueue.Allowed() {
            @Override
            public boolean under(QuotaNode branch) {
                return rights.mayTakeFrom(claimant, branch, way.fromOthers);
            }

            @Override
            public boolean unit(Unit unit) {
                return rights.toStop(claimant, unit.holder());
            }

            @Override
            public boolean isApart(Unit unit) {
                return rights.hasItsTimeSlice(unit.holder());
            }
        };
    }

    /** Of the tree down which victims are chosen: the pool's, else that over all pools. */
    private static QuotaNode rootOf(Claimant claimant) {
        return claimant.ask().leaves().getFirst().tree().root();
    }

    private Search search(Claimant claimant, SortedSet<NodeId> area, VictimQueue.Allowed allowed) {
        return new Search(cluster, claimant, node -> area.contains(node.id()), allowed);
    }
}
