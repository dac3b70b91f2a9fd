package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Cause;
import io.quartermaster.engine.model.Receipt;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Judges what a search found by playing it to its end: the claimant at its place, victims moved where there is room for
 * them. Takes the books as the search left them and always puts them back as they were before it.
 */
final class Outcome {
    private final Cluster cluster;
    private final Rights rights;
    private final Claimant claimant;
    private final Map<QuotaNode, Long> usedBefore = new LinkedHashMap<>();

    Outcome(Cluster cluster, Rights rights, Claimant claimant) {
        this.cluster = cluster;
        this.rights = rights;
        this.claimant = claimant;
        for (QuotaNode node : claimant.ask().path()) {
            usedBefore.put(node, node.used().next());
        }
    }

    /** Whether everybody chosen has another place, or could stay; leaves the books as the search has them. */
    boolean allMove(Search.Found found) {
        Tenure claim = claimant.at(found.place());
        cluster.add(claim, When.NEXT);
        List<Tenure> placed = new ArrayList<>();
        for (Unit victim : largestFirst(found.chosen())) {
            Optional<Tenure> place = place(victim.holder()).map(victim.holder().tenure()::at);
            if (place.isEmpty()) {
                break;
            }
            cluster.add(place.get(), When.NEXT);
            placed.add(place.get());
        }
        placed.reversed().forEach(tenure -> cluster.remove(tenure, When.NEXT));
        cluster.remove(claim, When.NEXT);
        return placed.size() == found.chosen().size();
    }

    private static List<Unit> largestFirst(List<Unit> units) {
        List<Unit> order = new ArrayList<>(units.reversed());
        order.sort(Comparator.<Unit>comparingLong(unit -> unit.tenure().gpuMilli())
                .reversed()
                .thenComparing(unit -> unit.holder().id()));
        return order;
    }

    /** The room, if every victim has another place. */
    Optional<Room> ifAllMove(Search.Found found) {
        return judge(found, true);
    }

    /** The room, if the rights to preempt hold in the end. */
    Optional<Room> ifRightful(Search.Found found) {
        return judge(found, false);
    }

    private Optional<Room> judge(Search.Found found, boolean allMustMove) {
        Tenure claim = claimant.at(found.place());
        cluster.add(claim, When.NEXT);
        List<Unit> victims = merged(found.chosen());
        SortedMap<WorkloadId, Tenure> moved = moveWhereThereIsRoom(victims, claim, allMustMove);
        boolean good = allMustMove ? moved.size() == victims.size() : !preemptsBeyondItsShare(victims);
        List<List<Receipt.Share>> after = new ArrayList<>();
        victims.forEach(victim -> after.add(shares(victim.holder())));
        moved.values().forEach(tenure -> cluster.remove(tenure, When.NEXT));
        cluster.remove(claim, When.NEXT);
        found.undo(cluster);
        return good ? Optional.of(new Room(found.place(), evictions(found, victims, moved, after))) : Optional.empty();
    }

    /** The units by workload, in order of choice; all that one loses together. */
    static List<Unit> merged(List<Unit> units) {
        Map<WorkloadId, Unit> byWorkload = new LinkedHashMap<>();
        for (Unit unit : units) {
            byWorkload.merge(unit.holder().id(), unit, Unit::with);
        }
        return List.copyOf(byWorkload.values());
    }

    private boolean preemptsBeyondItsShare(List<Unit> victims) {
        boolean ownGroup = victims.stream()
                .anyMatch(victim -> victim.holder().tenure().path().equals(claimant.path()));
        if (!ownGroup) {
            return false;
        }
        for (Map.Entry<QuotaNode, Long> entry : usedBefore.entrySet()) {
            long after = entry.getKey().used().next();
            if (after > entry.getKey().entitledGpuMilli() && after > entry.getValue()) {
                return true;
            }
        }
        return false;
    }

    /** Gives stopped workloads another place where there is one, those chosen last first, or the largest first. */
    private SortedMap<WorkloadId, Tenure> moveWhereThereIsRoom(List<Unit> victims, Tenure claim, boolean allMustMove) {
        List<Unit> order = allMustMove ? largestFirst(victims) : victims.reversed();
        SortedMap<WorkloadId, Tenure> moved = new TreeMap<>();
        for (Unit victim : order) {
            Optional<Tenure> elsewhere =
                    victim.core() ? placeElsewhere(victim.holder(), allMustMove) : Optional.empty();
            if (elsewhere.isPresent()) {
                moved.put(victim.holder().id(), elsewhere.get());
                cluster.add(elsewhere.get(), When.NEXT);
                if (!allMustMove && (!staysRightful(victims, claim, moved) || preemptsBeyondItsShare(victims))) {
                    moved.remove(victim.holder().id());
                    cluster.remove(elsewhere.get(), When.NEXT);
                }
            }
        }
        return moved;
    }

    /**
     * Whether each victim could still be stopped in its turn, and the claimant be admitted in the end, with those who
     * were moved counted where they went. Replays it in the trees, which it leaves as they were.
     */
    private boolean staysRightful(List<Unit> victims, Tenure claim, SortedMap<WorkloadId, Tenure> moved) {
        cluster.removeFromTrees(claim, When.NEXT);
        moved.values().forEach(tenure -> cluster.removeFromTrees(tenure, When.NEXT));
        victims.forEach(victim -> cluster.addToTrees(victim.tenure(), When.NEXT));
        boolean rightful = true;
        for (Unit victim : victims) {
            rightful &= rights.toStop(claimant, victim.holder());
            cluster.removeFromTrees(victim.tenure(), When.NEXT);
            Tenure elsewhere = moved.get(victim.holder().id());
            if (elsewhere != null) {
                cluster.addToTrees(elsewhere, When.NEXT);
            }
        }
        rightful &= Admission.later(claimant.ask()).isEmpty();
        cluster.addToTrees(claim, When.NEXT);
        return rightful;
    }

    private Optional<Tenure> placeElsewhere(Holder holder, boolean evenOverQuota) {
        Tenure tenure = holder.tenure();
        Ask ask = cluster.ask(tenure, false);
        Optional<Admission.Hit> hit = evenOverQuota ? Admission.ofPromised(ask, When.NEXT) : Admission.later(ask);
        if (hit.isPresent()) {
            return Optional.empty();
        }
        return place(holder).filter(place -> !place.equals(holder.allocation())).map(tenure::at);
    }

    private Optional<Allocation> place(Holder holder) {
        if (!holder.isComplete()) {
            return Optional.empty();
        }
        List<Integer> numbers = new ArrayList<>();
        holder.allocation().workers().forEach(worker -> numbers.add(worker.number()));
        Tenure tenure = holder.tenure();
        return claimant.space().place(new Request(tenure.shape(), numbers, tenure.path(), node -> true), Horizon.LATER);
    }

    private List<Room.Eviction> evictions(
            Search.Found found,
            List<Unit> victims,
            SortedMap<WorkloadId, Tenure> moved,
            List<List<Receipt.Share>> after) {
        List<Receipt.Considered> considered = considered(found, moved);
        List<Room.Eviction> evictions = new ArrayList<>();
        List<List<Receipt.Share>> before = new ArrayList<>();
        victims.forEach(victim -> before.add(shares(victim.holder())));
        for (int i = 0; i < victims.size(); i++) {
            Unit victim = victims.get(i);
            Optional<Allocation> movedTo =
                    Optional.ofNullable(moved.get(victim.holder().id())).map(Tenure::allocation);
            Receipt.Right right = movedTo.isPresent() ? Receipt.Right.MOVED : right(victim.holder());
            evictions.add(new Room.Eviction(
                    victim.holder(),
                    victim.tenure(),
                    victim.core(),
                    cause(right),
                    movedTo,
                    new Receipt(right, before.get(i), after.get(i), considered)));
            cluster.remove(victim.tenure(), When.NEXT);
        }
        victims.reversed().forEach(victim -> cluster.add(victim.tenure(), When.NEXT));
        return evictions;
    }

    /** The right at this point of the replay; what is used is what it was when the victim was chosen, or more. */
    private Receipt.Right right(Holder victim) {
        return rights.toReclaim(claimant, victim).orElse(Receipt.Right.PRIORITY);
    }

    private static Cause cause(Receipt.Right right) {
        return switch (right) {
            case RESERVED, FAIR_SHARE -> Cause.RECLAIM;
            case PRIORITY -> Cause.PREEMPT;
            case MOVED -> Cause.CONSOLIDATE;
            case DRAINED -> Cause.DRAIN;
            case CLOSED -> Cause.CLOSE;
            case BUDGET_USED_UP -> Cause.BUDGET;
            case INCOMPLETE -> Cause.INCOMPLETE;
        };
    }

    private static List<Receipt.Considered> considered(Search.Found found, SortedMap<WorkloadId, Tenure> moved) {
        Map<WorkloadId, Receipt.Outcome> outcomes = new LinkedHashMap<>();
        for (Unit unit : found.chosen()) {
            boolean isMoved = moved.containsKey(unit.holder().id());
            outcomes.put(unit.holder().id(), isMoved ? Receipt.Outcome.MOVED : Receipt.Outcome.STOPPED);
        }
        found.spared().forEach(unit -> outcomes.putIfAbsent(unit.holder().id(), Receipt.Outcome.SPARED));
        List<Receipt.Considered> considered = new ArrayList<>();
        outcomes.forEach((id, outcome) -> considered.add(new Receipt.Considered(id, outcome)));
        return considered;
    }

    private List<Receipt.Share> shares(Holder victim) {
        List<Receipt.Share> shares = new ArrayList<>();
        for (Rights.Pair pair : rights.pairs(claimant, victim)) {
            shares.add(pair.claimantBranch().share());
            if (pair.victimBranch() != pair.claimantBranch()) {
                shares.add(pair.victimBranch().share());
            }
        }
        return shares;
    }
}
