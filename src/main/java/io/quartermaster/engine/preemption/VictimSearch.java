package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.quota.QuotaAdmission;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Predicate;

/**
 * One attempt to make room. It evicts units one at a time until the preemptor fits, then restores each unit that proves
 * unnecessary. A search that fails rolls its transaction back.
 */
final class VictimSearch {
    private final Transaction transaction;
    private final Preemptor preemptor;
    private final PlacementRequest placementRequest;
    private final VictimQueue.Allowed allowed;
    private final Predicate<Solution> complete;
    private final int maxVictims;
    private final List<EvictionUnit> chosen = new ArrayList<>();
    private final List<EvictionUnit> spared = new ArrayList<>();
    /** Whether only room was missing when a place was last searched. */
    private boolean hadNoRoom;

    /** A search for a place alone, regardless of where the victims go. */
    VictimSearch(Transaction transaction, Preemptor preemptor, Predicate<Node> nodes, VictimQueue.Allowed allowed) {
        this(transaction, preemptor, nodes, allowed, found -> true, Integer.MAX_VALUE);
    }

    /**
     * @param transaction an empty transaction, in which a successful search leaves its victims released
     * @param nodes the nodes on which the preemptor may be placed
     * @param complete a condition on the result, besides a place for the preemptor; it rolls back what it books
     * @param maxVictims the greatest number of victims
     */
    VictimSearch(
            Transaction transaction,
            Preemptor preemptor,
            Predicate<Node> nodes,
            VictimQueue.Allowed allowed,
            Predicate<Solution> complete,
            int maxVictims) {
        this.complete = complete;
        this.maxVictims = maxVictims;
        this.transaction = transaction;
        this.preemptor = preemptor;
        this.placementRequest = preemptor.placementRequest().within(nodes);
        this.allowed = allowed;
    }

    /**
     * The result of a search. The chosen units are released in the transaction, and the place is not booked.
     *
     * @param chosen the victims, in the order of choice
     */
    record Solution(Allocation place, List<EvictionUnit> chosen, List<EvictionUnit> spared) {}

    /** Runs the search. If it succeeds, the chosen units stay released; otherwise the transaction is rolled back. */
    Optional<Solution> run(VictimQueue queue) {
        Optional<Allocation> place = place();
        while (place.isEmpty()) {
            Optional<EvictionUnit> next = chosen.size() < maxVictims ? queue.poll(allowed) : Optional.empty();
            if (next.isEmpty()) {
                transaction.rollback();
                return Optional.empty();
            }
            releaseUnit(next.get());
            chosen.add(next.get());
            place = hadNoRoom && !offersRoom(next.get()) ? Optional.empty() : place();
        }
        place = minimise(place.get());
        if (!isStillAllowed()) {
            transaction.rollback();
            return Optional.empty();
        }
        return place.map(found -> new Solution(found, List.copyOf(chosen), List.copyOf(spared)));
    }

    private Optional<Allocation> place() {
        boolean enough =
                preemptor.poolCapacity().freeGpuMilli(Availability.AFTER_RELEASES) >= placementRequest.leastGpuMilli();
        boolean admitted =
                enough && QuotaAdmission.projected(preemptor.quotaRequest()).isEmpty();
        Optional<Allocation> place = admitted
                ? preemptor.poolCapacity().place(placementRequest, Availability.AFTER_RELEASES)
                : Optional.empty();
        hadNoRoom = admitted && place.isEmpty();
        return place.filter(found -> complete.test(new Solution(found, List.copyOf(chosen), List.copyOf(spared))));
    }

    /** Whether a worker might fit on a node of a unit that has left. Without any such node there is still no room. */
    private boolean offersRoom(EvictionUnit evictionUnit) {
        Shape shape = placementRequest.shape();
        SortedSet<NodeId> nodes = evictionUnit.nodes();
        if (!shape.isPlain() || nodes.isEmpty()) {
            return true;
        }
        for (NodeId node : nodes) {
            if (preemptor
                    .poolCapacity()
                    .freeDevices(node)
                    .filter(free -> new FreedNode(free, shape).fits())
                    .isPresent()) {
                return true;
            }
        }
        return false;
    }

    private Optional<Allocation> minimise(Allocation found) {
        Optional<Allocation> place = Optional.of(found);
        Set<WorkloadId> whole = new HashSet<>();
        chosen.stream()
                .filter(EvictionUnit::gangCore)
                .forEach(evictionUnit -> whole.add(evictionUnit.candidate().id()));
        for (int i = chosen.size() - 1; i >= 0; i--) {
            EvictionUnit evictionUnit = chosen.get(i);
            boolean withoutItsCore = !evictionUnit.gangCore()
                    && whole.contains(evictionUnit.candidate().id());
            if (withoutItsCore) {
                continue;
            }
            restoreUnit(evictionUnit);
            chosen.remove(i);
            Optional<Allocation> without = place();
            if (without.isPresent()) {
                place = without;
                spared.add(evictionUnit);
                whole.remove(evictionUnit.candidate().id());
            } else {
                releaseUnit(evictionUnit);
                chosen.add(i, evictionUnit);
            }
        }
        return place;
    }

    /** Replays the choice without the spared units: each victim must still be allowed at its point of the sequence. */
    private boolean isStillAllowed() {
        if (spared.isEmpty()) {
            return true;
        }
        chosen.forEach(this::restoreUnit);
        boolean allowedSoFar = true;
        for (EvictionUnit evictionUnit : chosen) {
            allowedSoFar &= allowed.permitsUnit(evictionUnit);
            releaseUnit(evictionUnit);
        }
        return allowedSoFar;
    }

    private void releaseUnit(EvictionUnit evictionUnit) {
        transaction.release(evictionUnit.booking());
    }

    private void restoreUnit(EvictionUnit evictionUnit) {
        transaction.book(evictionUnit.booking());
    }
}
