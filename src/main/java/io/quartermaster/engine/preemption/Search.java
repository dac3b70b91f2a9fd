package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * One attempt to make room: stops units one at a time until the claimant fits, then puts back whoever turns out not to
 * be needed. Works on the live books and undoes all of it.
 */
final class Search {
    private final Cluster cluster;
    private final Claimant claimant;
    private final Request request;
    private final VictimQueue.Allowed allowed;
    private final Predicate<Found> complete;
    private final int most;
    private final List<Unit> chosen = new ArrayList<>();
    private final List<Unit> spared = new ArrayList<>();

    /** A search for a place alone, whatever becomes of those who are stopped. */
    Search(Cluster cluster, Claimant claimant, Predicate<Node> nodes, VictimQueue.Allowed allowed) {
        this(cluster, claimant, nodes, allowed, found -> true, Integer.MAX_VALUE);
    }

    /**
     * @param nodes where the claimant is to be put
     * @param complete what must hold beside the claimant's having a place; it leaves the books as they are
     * @param most how many may be chosen
     */
    Search(
            Cluster cluster,
            Claimant claimant,
            Predicate<Node> nodes,
            VictimQueue.Allowed allowed,
            Predicate<Found> complete,
            int most) {
        this.complete = complete;
        this.most = most;
        this.cluster = cluster;
        this.claimant = claimant;
        this.request = claimant.request().within(nodes);
        this.allowed = allowed;
    }

    /**
     * What a search found; the units are stopped in the books and the place is not taken.
     *
     * @param chosen those who must go, in the order of choice
     */
    record Found(Allocation place, List<Unit> chosen, List<Unit> spared) {

        /** Puts everybody back. */
        void undo(Cluster cluster) {
            chosen.reversed().forEach(unit -> cluster.add(unit.tenure(), When.NEXT));
        }
    }

    /** Leaves the chosen units stopped in the books when it finds something, and no trace when it does not. */
    Optional<Found> among(VictimQueue queue) {
        Optional<Allocation> place = place();
        while (place.isEmpty()) {
            Optional<Unit> next = chosen.size() < most ? queue.poll(allowed) : Optional.empty();
            if (next.isEmpty()) {
                putBackAll();
                return Optional.empty();
            }
            stop(next.get());
            chosen.add(next.get());
            place = place();
        }
        place = minimised(place.get());
        if (!allowedStill()) {
            putBackAll();
            return Optional.empty();
        }
        return place.map(found -> new Found(found, List.copyOf(chosen), List.copyOf(spared)));
    }

    private Optional<Allocation> place() {
        boolean enough = claimant.space().freeGpuMilli(Horizon.LATER) >= request.leastGpuMilli();
        boolean admitted = enough && Admission.later(claimant.ask()).isEmpty();
        Optional<Allocation> place = admitted ? claimant.space().place(request, Horizon.LATER) : Optional.empty();
        return place.filter(found -> complete.test(new Found(found, List.copyOf(chosen), List.copyOf(spared))));
    }

    private Optional<Allocation> minimised(Allocation found) {
        Optional<Allocation> place = Optional.of(found);
        Set<WorkloadId> whole = new HashSet<>();
        chosen.stream()
                .filter(Unit::core)
                .forEach(unit -> whole.add(unit.holder().id()));
        for (int i = chosen.size() - 1; i >= 0; i--) {
            Unit unit = chosen.get(i);
            boolean withoutItsCore =
                    !unit.core() && whole.contains(unit.holder().id());
            if (withoutItsCore) {
                continue;
            }
            putBack(unit);
            chosen.remove(i);
            Optional<Allocation> without = place();
            if (without.isPresent()) {
                place = without;
                spared.add(unit);
                whole.remove(unit.holder().id());
            } else {
                stop(unit);
                chosen.add(i, unit);
            }
        }
        return place;
    }

    /** Replays the choice without those put back: each must still have been allowed when its turn came. */
    private boolean allowedStill() {
        if (spared.isEmpty()) {
            return true;
        }
        chosen.forEach(this::putBack);
        boolean allowedSoFar = true;
        for (Unit unit : chosen) {
            allowedSoFar &= allowed.unit(unit);
            stop(unit);
        }
        return allowedSoFar;
    }

    private void putBackAll() {
        Collections.reverse(chosen);
        chosen.forEach(this::putBack);
        chosen.clear();
    }

    private void stop(Unit unit) {
        cluster.remove(unit.tenure(), When.NEXT);
    }

    private void putBack(Unit unit) {
        cluster.add(unit.tenure(), When.NEXT);
    }
}
