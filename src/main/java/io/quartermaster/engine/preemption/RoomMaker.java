package io.quartermaster.engine.preemption;

import io.quartermaster.engine.NodeId;
import io.quartermaster.engine.Settings;
import io.quartermaster.engine.WorkloadId;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Holder;
import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.quota.Admission;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Predicate;

/**
 * Makes room for one claimant in one pool, from the least disruptive way to the most: moving work, taking back from
 * other groups, stopping lower priority, and the last two together. It only simulates: what it returns is still to be
 * done.
 */
public final class RoomMaker {
    /** More moves than this for one start are not worth it. */
    private static final int MOST_MOVES = 32;

    private final Settings settings;
    private final Cluster cluster;
    private final Rights rights;

    public RoomMaker(Settings settings, Cluster cluster, Stops stops, long nowMillis) {
        this.settings = settings;
        this.cluster = cluster;
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

    /** The room that can be made with the least disruption, or none. */
    public Optional<Room> makeRoom(Claimant claimant) {
        Optional<Admission.Hit> hit = Admission.later(claimant.ask());
        if (hit.isPresent() && !curable(hit.get().bound())) {
            return Optional.empty();
        }
        Outcome outcome = new Outcome(cluster, rights, claimant);
        if (hit.isEmpty()) {
            Optional<Room> room = leftByOthers(claimant).or(() -> byMoving(claimant, outcome));
            if (room.isPresent()) {
                return room;
            }
        }
        for (Way way : Way.values()) {
            Optional<Room> room = byStopping(claimant, way, outcome);
            if (room.isPresent()) {
                return room;
            }
        }
        return Optional.empty();
    }

    private static boolean curable(Admission.Bound bound) {
        return switch (bound) {
            case UNNAMED, NOT_PREEMPTIBLE -> false;
            case LIMIT, OVER_QUOTA_OFF, HELD_FOR_OTHERS, CAPACITY -> true;
        };
    }

    /** What comes free anyway, once those who were told to stop have left. */
    private Optional<Room> leftByOthers(Claimant claimant) {
        return claimant.space().place(claimant.request(), Horizon.LATER).map(place -> new Room(place, List.of()));
    }

    private Optional<Room> byMoving(Claimant claimant, Outcome outcome) {
        boolean enoughFree =
                claimant.space().freeGpuMilli(Horizon.LATER) >= claimant.ask().gpuMilli();
        if (!settings.consolidate() || !enoughFree) {
            return Optional.empty();
        }
        List<Unit> movable = new ArrayList<>();
        for (Holder holder : cluster.running(claimant.space().pool().id())) {
            if (rights.oldEnough(holder)) {
                movable.add(Unit.whole(holder));
            }
        }
        for (SortedSet<NodeId> area : claimant.space().areas(claimant.request())) {
            Optional<Room> room = search(claimant, area, unit -> true)
                    .among(inArea(movable, area))
                    .filter(found -> within(MOST_MOVES, found))
                    .flatMap(outcome::ifAllMove);
            if (room.isPresent()) {
                return room;
            }
        }
        return Optional.empty();
    }

    private boolean within(int mostMoves, Search.Found found) {
        boolean few = found.chosen().size() <= mostMoves;
        if (!few) {
            found.undo(cluster);
        }
        return few;
    }

    private Optional<Room> byStopping(Claimant claimant, Way way, Outcome outcome) {
        List<Unit> candidates = candidates(claimant, way);
        Predicate<Unit> allowed = unit -> rights.toStop(claimant, unit.holder());
        if (candidates.stream().noneMatch(allowed)) {
            return Optional.empty();
        }
        Optional<Room> anywhere = new Search(cluster, claimant, node -> true, allowed)
                .among(candidates)
                .flatMap(outcome::ifRightful);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        for (SortedSet<NodeId> area : claimant.space().areas(claimant.request())) {
            List<Unit> inArea = inArea(candidates, area);
            if (inArea.size() < candidates.size() && !inArea.isEmpty()) {
                Optional<Room> room =
                        search(claimant, area, allowed).among(inArea).flatMap(outcome::ifRightful);
                if (room.isPresent()) {
                    return room;
                }
            }
        }
        return Optional.empty();
    }

    private Search search(Claimant claimant, SortedSet<NodeId> area, Predicate<Unit> allowed) {
        return new Search(cluster, claimant, node -> area.contains(node.id()), allowed);
    }

    /** All whom a way may stop as far as does not depend on what is used at the moment of choice. */
    private List<Unit> candidates(Claimant claimant, Way way) {
        List<Unit> units = new ArrayList<>();
        boolean others = false;
        boolean ownGroup = false;
        for (Holder holder : cluster.running(claimant.space().pool().id())) {
            boolean own = holder.tenure().path().equals(claimant.path());
            if (own && way.fromOwnGroup && rights.toPreempt(claimant, holder) && rights.oldEnough(holder)) {
                units.addAll(Unit.of(holder));
                ownGroup = true;
            }
            if (!own && way.fromOthers && rights.oldEnoughToBeReclaimed(holder)) {
                units.addAll(Unit.of(holder));
                others = true;
            }
        }
        return way == Way.BOTH && !(others && ownGroup) ? List.of() : units;
    }

    /** The units that hold something in an area; with a core also its surplus, which cannot run without it. */
    private static List<Unit> inArea(List<Unit> units, SortedSet<NodeId> area) {
        Set<WorkloadId> coreInside = new HashSet<>();
        for (Unit unit : units) {
            if (unit.core() && unit.touches(area)) {
                coreInside.add(unit.holder().id());
            }
        }
        List<Unit> inside = new ArrayList<>();
        for (Unit unit : units) {
            if (unit.touches(area) || coreInside.contains(unit.holder().id())) {
                inside.add(unit);
            }
        }
        return inside;
    }
}
