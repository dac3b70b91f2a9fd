package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Makes room for one preemptor in one pool, from the least to the most disruptive way. It only simulates. */
final class MakingRoom {
    private final Settings settings;
    private final Facts facts;
    private final Cell cell;
    private final Admission admission;
    private final Predicate<WorkloadId> mayBeVictim;
    private final long nowMillis;
    private final Preemptor preemptor;
    private final Rights rights;
    private final MoveSearch moveSearch;

    /** The holdings before any room is made, with the backfill reservations that bind the preemptor. */
    private final Holdings before;

    /** Decides whether moves are tried, and learns that they failed. */
    interface MoveSearch {
        /** Whether moves may be tried. */
        boolean isAllowed();

        void failed();
    }

    /** What may be done for a preemptor. */
    enum Allowed {
        STOPPING,
        TAKING_BACK_RESERVED,
        MOVING_ONLY
    }

    /** The workload for which room is made, with its request. */
    record Preemptor(
            Workload workload, Placement pool, Admission.Request request, Placement.Request devices, Allowed allowed) {
        Holdings.Owner owner() {
            return Holdings.Owner.of(workload);
        }
    }

    /** The place of the preemptor, with the evictions that free it, in the order of choice. */
    record Solution(Allocation place, List<Eviction> evictions) {}

    /**
     * The eviction or the move of one victim.
     *
     * @param whole whether the whole workload leaves, rather than surplus workers only
     */
    record Eviction(
            WorkloadId victim, Allocation leaving, boolean whole, EvictionCause cause, Optional<Allocation> movedTo) {}

    /**
     * An eviction unit: one surplus worker, or the core.
     *
     * @param all the workers that the victim keeps before its eviction
     */
    record Unit(Workload workload, WorkloadPhase.Holding holding, Allocation all, Allocation leaving, boolean core) {
        WorkloadId id() {
            return workload.id();
        }

        boolean touches(SortedSet<NodeId> area) {
            Allocation coreOfAll = new Allocation(
                    all.pool(),
                    all.workers()
                            .subList(
                                    0,
                                    Math.min(
                                            all.workers().size(),
                                            workload.shape().minWorkers())));
            return area.stream().anyMatch(node -> leaving.touches(node) || !core && coreOfAll.touches(node));
        }

        Unit with(Unit other) {
            return new Unit(workload, holding, all, leaving.with(other.leaving), core || other.core);
        }
    }

    /** Lowest priority, surplus before core, started last; ties: submitted last, then by id, then the last worker. */
    private static final Comparator<Unit> FIRST_TO_GO = Comparator.comparingInt((Unit unit) -> unit.workload.priority())
            .thenComparing(Unit::core)
            .thenComparingLong(unit -> -unit.holding.startedMillis())
            .thenComparingLong(unit -> -unit.workload.submittedMillis())
            .thenComparingLong(unit -> -unit.workload.sequence())
            .thenComparing(Unit::id, Comparator.reverseOrder())
            .thenComparingInt(unit -> -unit.leaving.workers().getFirst().number());

    MakingRoom(
            Settings settings,
            Facts facts,
            Cell cell,
            Admission admission,
            Predicate<WorkloadId> mayBeVictim,
            long nowMillis,
            Preemptor preemptor,
            MoveSearch moveSearch,
            Holdings before) {
        this.moveSearch = moveSearch;
        this.settings = settings;
        this.facts = facts;
        this.cell = cell;
        this.admission = admission;
        this.mayBeVictim = mayBeVictim;
        this.nowMillis = nowMillis;
        this.preemptor = preemptor;
        this.rights = new Rights(settings, cell, nowMillis, preemptor);
        this.before = before;
    }

    Optional<Solution> solve() {
        Optional<Admission.Bound> bound = admission.later(preemptor.request, before);
        if (bound.isEmpty()) {
            // Work that is leaving already may free enough.
            Optional<Allocation> place = preemptor.pool.place(preemptor.devices, before, Moment.LATER);
            if (place.isPresent()) {
                return Optional.of(new Solution(place.get(), List.of()));
            }
            if (settings.consolidate() && moveSearch.isAllowed()) {
                Optional<Solution> moves = consolidate();
                if (moves.isPresent()) {
                    return moves;
                }
                moveSearch.failed();
            }
        } else if (bound.get() == Admission.Bound.UNNAMED || bound.get() == Admission.Bound.NOT_PREEMPTIBLE) {
            return Optional.empty();
        }
        return switch (preemptor.allowed) {
            case MOVING_ONLY -> Optional.empty();
            case TAKING_BACK_RESERVED -> evict(true, false);
            // Reclaim, preempt, then both together.
            case STOPPING -> evict(true, false).or(() -> evict(false, true)).or(() -> evict(true, true));
        };
    }

    // Victims

    /** The eviction units of the preemptible work that runs in the pool and that is not moving or leaving. */
    private List<Unit> units(boolean wholeWorkloads) {
        List<Unit> units = new ArrayList<>();
        for (Workload workload : facts.workloads.values()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding
                    && holding.allocation().pool().equals(preemptor.pool.pool.id())
                    && workload.preemptible()
                    && workload.nomination().isEmpty()
                    && !(holding.phase() instanceof WorkloadPhase.Phase.Stopping)
                    && mayBeSignalled(workload.id(), holding)) {
                Allocation keeps = holding.allocation().without(Holdings.leaving(holding));
                int core = wholeWorkloads
                        ? keeps.workers().size()
                        : Math.min(
                                workload.shape().minWorkers(), keeps.workers().size());
                for (int i = keeps.workers().size() - 1; i >= core; i--) {
                    units.add(unit(workload, holding, keeps, i, i + 1, false));
                }
                units.add(unit(workload, holding, keeps, 0, core, true));
            }
        }
        return units;
    }

    private static Unit unit(
            Workload workload, WorkloadPhase.Holding holding, Allocation keeps, int from, int to, boolean core) {
        return new Unit(
                workload,
                holding,
                keeps,
                new Allocation(keeps.pool(), keeps.workers().subList(from, to)),
                core);
    }

    /** Workers that leave share one deadline, so a shrinking workload loses more only at the same deadline (ADR 13). */
    private boolean mayBeSignalled(WorkloadId id, WorkloadPhase.Holding holding) {
        boolean sameDeadline = !(holding.phase() instanceof WorkloadPhase.Phase.Shrinking shrinking)
                || shrinking.deadlineMillis() == nowMillis + settings.graceMillis();
        return sameDeadline && mayBeVictim.test(id);
    }

    private boolean hasRun(Unit unit, long millis) {
        return nowMillis - unit.holding.startedMillis() >= millis;
    }

    /** The next victim: at each level the branch with the greatest U/F now, then the first to go. */
    private Optional<Unit> next(List<Unit> units, Holdings holdings) {
        QuotaBranch root = preemptor.request.leaves().getFirst().tree.root;
        return Optional.ofNullable(next(root, units, holdings));
    }

    private @Nullable Unit next(QuotaBranch node, List<Unit> units, Holdings holdings) {
        if (node.children.isEmpty()) {
            return units.stream()
                    .filter(unit -> node.tree.leaf(unit.workload.path()) == node)
                    .min(FIRST_TO_GO)
                    .orElse(null);
        }
        Unit best = null;
        QuotaBranch bestBranch = node;
        for (QuotaBranch child : node.children) {
            Unit offer = next(child, units, holdings);
            if (offer != null) {
                int byShare = best == null
                        ? 1
                        : Candidate.compareRatios(
                                child.used(holdings), child.fair, bestBranch.used(holdings), bestBranch.fair);
                if (best == null || byShare > 0 || byShare == 0 && FIRST_TO_GO.compare(offer, best) < 0) {
                    best = offer;
                    bestBranch = child;
                }
            }
        }
        return best;
    }

    // Reclaim and preempt

    private Optional<Solution> evict(boolean fromOthers, boolean fromOwnGroup) {
        List<Unit> units = units(false).stream()
                .filter(unit -> isCandidate(unit, fromOthers, fromOwnGroup))
                .toList();
        Search search = new Search(rights::mayEvict, (place, chosen) -> true);
        Optional<Solution> anywhere = search.run(units, node -> true).flatMap(this::acceptEvictions);
        if (anywhere.isPresent()) {
            return anywhere;
        }
        for (SortedSet<NodeId> area : preemptor.pool.areas(preemptor.devices, before)) {
            Optional<Solution> inArea = search.run(
                            units.stream().filter(unit -> unit.touches(area)).toList(),
                            node -> area.contains(node.id()))
                    .flatMap(this::acceptEvictions);
            if (inArea.isPresent()) {
                return inArea;
            }
        }
        return Optional.empty();
    }

    private boolean isCandidate(Unit unit, boolean fromOthers, boolean fromOwnGroup) {
        boolean own = unit.workload.path().equals(preemptor.workload.path());
        return own
                ? fromOwnGroup
                        && unit.workload.priority() < preemptor.workload.priority()
                        && hasRun(unit, settings.minRuntimeMillis())
                : fromOthers && hasRun(unit, Math.max(settings.minRuntimeMillis(), settings.reclaimMinRuntimeMillis()));
    }

    /** A condition on a place for the preemptor with the chosen victims. */
    private interface Complete {
        boolean test(Allocation place, List<Unit> chosen);
    }

    /** A right to choose a victim, given the holdings at that moment. */
    private interface Right {
        boolean permits(Unit unit, Holdings holdings);
    }

    private record Found(Allocation place, List<Unit> chosen) {}

    /** Selects victims one at a time until the preemptor fits, then restores those that prove unnecessary. */
    private final class Search {
        private final Right right;
        private final Complete complete;

        Search(Right right, Complete complete) {
            this.right = right;
            this.complete = complete;
        }

        Optional<Found> run(List<Unit> units, Predicate<Node> nodes) {
            List<Unit> left = new ArrayList<>(units);
            List<Unit> chosen = new ArrayList<>();
            Optional<Allocation> place = place(chosen, nodes);
            while (place.isEmpty()) {
                Holdings now = without(chosen);
                Optional<Unit> next = next(
                        left.stream().filter(unit -> right.permits(unit, now)).toList(), now);
                if (next.isEmpty()) {
                    return Optional.empty();
                }
                chosen.add(next.get());
                left.remove(next.get());
                place = place(chosen, nodes);
            }
            return minimise(place.get(), chosen, nodes);
        }

        private Optional<Allocation> place(List<Unit> chosen, Predicate<Node> nodes) {
            Holdings now = without(chosen);
            return admission.later(preemptor.request, now).isPresent()
                    ? Optional.empty()
                    : preemptor
                            .pool
                            .place(preemptor.devices.on(nodes), now, Moment.LATER)
                            .filter(found -> complete.test(found, chosen));
        }

        /** Restores in the reverse order of selection, and checks the rights again. Surplus needs its core. */
        private Optional<Found> minimise(Allocation found, List<Unit> all, Predicate<Node> nodes) {
            List<Unit> chosen = new ArrayList<>(all);
            Allocation place = found;
            for (Unit unit : all.reversed()) {
                boolean coreGoes = !unit.core
                        && chosen.stream()
                                .anyMatch(other -> other.core && other.id().equals(unit.id()));
                List<Unit> without =
                        chosen.stream().filter(other -> other != unit).toList();
                Optional<Allocation> still = coreGoes ? Optional.empty() : place(without, nodes);
                if (still.isPresent()) {
                    place = still.get();
                    chosen.remove(unit);
                }
            }
            if (chosen.size() < all.size()) {
                for (int i = 0; i < chosen.size(); i++) {
                    if (!right.permits(chosen.get(i), without(chosen.subList(0, i)))) {
                        return Optional.empty();
                    }
                }
            }
            return Optional.of(new Found(place, chosen));
        }
    }

    /** The holdings without the chosen units. */
    private Holdings without(List<Unit> chosen) {
        Holdings holdings = before;
        for (Unit unit : chosen) {
            holdings = holdings.withoutLater(unit.id(), unit.leaving);
        }
        return holdings;
    }

    /** All units of one workload together, in the order of choice. */
    private static List<Unit> merged(List<Unit> units) {
        Map<WorkloadId, Unit> byWorkload = new LinkedHashMap<>();
        units.forEach(unit -> byWorkload.merge(unit.id(), unit, Unit::with));
        return List.copyOf(byWorkload.values());
    }

    /**
     * Simulates the outcome. Victims that fit elsewhere are moved, the last chosen first, unless the move would end a
     * right by which a victim is taken. With victims of the own group, no node of the path may then be both above
     * max(R, F) and higher than it was.
     */
    private Optional<Solution> acceptEvictions(Found found) {
        List<Unit> victims = merged(found.chosen);
        Map<WorkloadId, Allocation> moved = new LinkedHashMap<>();
        for (Unit victim : victims.reversed()) {
            Optional<Allocation> elsewhere =
                    victim.core ? placeElsewhere(victim, outcome(found, victims, moved), false) : Optional.empty();
            if (elsewhere.isPresent()) {
                moved.put(victim.id(), elsewhere.get());
                if (!areStillPermitted(victims, moved) || isTooHigh(victims, outcome(found, victims, moved))) {
                    moved.remove(victim.id());
                }
            }
        }
        return isTooHigh(victims, outcome(found, victims, moved))
                ? Optional.empty()
                : Optional.of(solution(found, victims, moved));
    }

    /** The holdings with the preemptor at its place and the moved victims at theirs. */
    private Holdings outcome(Found found, List<Unit> victims, Map<WorkloadId, Allocation> moved) {
        return withMoved(without(victims).withLater(preemptor.owner(), found.place), victims, moved);
    }

    private static Holdings withMoved(Holdings holdings, List<Unit> victims, Map<WorkloadId, Allocation> moved) {
        Holdings with = holdings;
        for (Unit victim : victims) {
            Allocation place = moved.get(victim.id());
            with = place == null ? with : with.withLater(Holdings.Owner.of(victim.workload), place);
        }
        return with;
    }

    /** Whether every right holds in turn, with moved victims at their new places, and the preemptor is admitted. */
    private boolean areStillPermitted(List<Unit> victims, Map<WorkloadId, Allocation> moved) {
        for (int i = 0; i < victims.size(); i++) {
            List<Unit> gone = victims.subList(0, i);
            if (!rights.mayEvict(victims.get(i), withMoved(without(gone), gone, moved))) {
                return false;
            }
        }
        return admission
                .later(preemptor.request, withMoved(without(victims), victims, moved))
                .isEmpty();
    }

    private boolean isTooHigh(List<Unit> victims, Holdings outcome) {
        return victims.stream().anyMatch(victim -> victim.workload.path().equals(preemptor.workload.path()))
                && preemptor.request.nodes().stream()
                        .anyMatch(
                                node -> node.used(outcome) > node.entitled() && node.used(outcome) > node.used(before));
    }

    /** @param overQuota whether only limits bind the moved work, because the move changes no sum */
    private Optional<Allocation> placeElsewhere(Unit victim, Holdings holdings, boolean overQuota) {
        Admission.Request again = new Admission.Request(
                victim.id(),
                victim.workload.path(),
                victim.workload.user(),
                cell.leaves(victim.all.pool(), victim.workload.path()),
                victim.all.gpuMilli(),
                true,
                victim.workload.preemptible(),
                false);
        Optional<Admission.Bound> bound =
                overQuota ? admission.limit(again, holdings, Moment.View.PROJECTED) : admission.later(again, holdings);
        return bound.isPresent()
                ? Optional.empty()
                : placeAgain(victim, holdings).filter(place -> !place.equals(victim.all));
    }

    private Optional<Allocation> placeAgain(Unit victim, Holdings holdings) {
        return preemptor.pool.place(
                new Placement.Request(
                        victim.workload.shape(),
                        List.copyOf(Holdings.numbers(victim.all)),
                        victim.workload.path(),
                        node -> true),
                holdings,
                Moment.LATER);
    }

    private Solution solution(Found found, List<Unit> victims, Map<WorkloadId, Allocation> moved) {
        List<Eviction> evictions = new ArrayList<>();
        for (int i = 0; i < victims.size(); i++) {
            Unit victim = victims.get(i);
            Optional<Allocation> movedTo = Optional.ofNullable(moved.get(victim.id()));
            boolean reclaimed = rights.mayReclaim(victim, without(victims.subList(0, i)));
            EvictionCause cause = movedTo.isPresent()
                    ? EvictionCause.CONSOLIDATE
                    : reclaimed ? EvictionCause.RECLAIM : EvictionCause.PREEMPT;
            evictions.add(new Eviction(victim.id(), victim.leaving, victim.core, cause, movedTo));
        }
        return new Solution(found.place, evictions);
    }

    // Consolidation

    /** Moves whole workloads, only if every moved one has its new place in the same plan. */
    private Optional<Solution> consolidate() {
        List<Unit> units = units(true).stream()
                .filter(unit -> !unit.id().equals(preemptor.workload.id())
                        && hasRun(unit, settings.minRuntimeMillis())
                        && unit.all.workers().getFirst().place() instanceof Allocation.Place.OnNode
                        && mayStartAgain(unit))
                .toList();
        Search search = new Search((unit, holdings) -> true, this::allHaveAPlace);
        List<SortedSet<NodeId>> areas = preemptor.pool.areas(preemptor.devices, before);
        List<SortedSet<NodeId>> inOrder = new ArrayList<>(areas);
        inOrder.sort(
                Comparator.<SortedSet<NodeId>>comparingLong(area -> -preemptor.pool.free(area, before, Moment.LATER))
                        .thenComparing(
                                area -> units.stream()
                                        .filter(unit -> unit.touches(area))
                                        .min(FIRST_TO_GO)
                                        .orElse(null),
                                Comparator.nullsLast(FIRST_TO_GO)));
        for (SortedSet<NodeId> area : inOrder) {
            Optional<Solution> inArea = search.run(
                            units.stream().filter(unit -> unit.touches(area)).toList(),
                            node -> area.contains(node.id()))
                    .flatMap(this::acceptMoves);
            if (inArea.isPresent()) {
                return inArea;
            }
        }
        // In larger pools than these cells have, only requests without any area are tried in the whole pool.
        return search.run(units, node -> true).flatMap(this::acceptMoves);
    }

    /** Work beyond a limit that was cut could not start again, so it is not moved (ADR 13). */
    private boolean mayStartAgain(Unit unit) {
        QuotaPath path = unit.workload.path();
        boolean overLimit = cell.leaves(unit.all.pool(), path).stream()
                .flatMap(leaf -> leaf.upToTenant().stream())
                .anyMatch(node -> node.used(before) > node.terms.limit());
        boolean overCap = path.fromTenant().stream().anyMatch(prefix -> {
            ConcurrencyCaps cap = facts.caps.get(prefix);
            long ofUser = before.used(
                    Moment.View.PROJECTED,
                    entry -> !entry.kept()
                            && prefix.covers(entry.path())
                            && entry.user().equals(unit.workload.user()));
            long running = before.entries().stream()
                    .filter(entry -> entry.projected() && !entry.kept() && prefix.covers(entry.path()))
                    .map(Holdings.Entry::workload)
                    .distinct()
                    .count();
            return cap != null
                    && (unit.workload.user().isPresent()
                                    && ofUser > cap.perUserGpuMilli().orElse(Long.MAX_VALUE)
                            || running > cap.running().orElse(Integer.MAX_VALUE));
        });
        return !overLimit && !overCap;
    }

    /** Tie-break: the largest first, then by id. */
    private static List<Unit> largestFirst(List<Unit> units) {
        List<Unit> order = new ArrayList<>(units);
        order.sort(Comparator.comparingLong((Unit unit) -> -unit.leaving.gpuMilli())
                .thenComparing(Unit::id));
        return order;
    }

    private boolean allHaveAPlace(Allocation place, List<Unit> chosen) {
        Holdings holdings = without(chosen).withLater(preemptor.owner(), place);
        for (Unit unit : largestFirst(chosen)) {
            Optional<Allocation> again = placeAgain(unit, holdings);
            if (again.isEmpty()) {
                return false;
            }
            holdings = holdings.withLater(Holdings.Owner.of(unit.workload), again.get());
        }
        return true;
    }

    private Optional<Solution> acceptMoves(Found found) {
        Map<WorkloadId, Allocation> moved = new LinkedHashMap<>();
        for (Unit victim : largestFirst(found.chosen)) {
            placeElsewhere(victim, outcome(found, found.chosen, moved), true)
                    .ifPresent(place -> moved.put(victim.id(), place));
        }
        return moved.size() == found.chosen.size()
                ? Optional.of(solution(found, found.chosen, moved))
                : Optional.empty();
    }
}
