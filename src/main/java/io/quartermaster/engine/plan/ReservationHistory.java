package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The backfill reservations with which the last plan ended. Each plan computes its reservations again. Where they are
 * the same as before, attempts that failed beside them need no repetition.
 */
public final class ReservationHistory {
    private Map<PoolCapacity, List<PastReservation>> last = new LinkedHashMap<>();
    private Map<PoolCapacity, Map<SchedulingClass, FoundPlace>> foundBefore = new HashMap<>();
    private Map<PoolCapacity, Map<SchedulingClass, FoundPlace>> found = new HashMap<>();

    /**
     * The result of a search for a reservation, which stays the same until a booking in the pool changes. It is
     * compared by identity.
     */
    static final class FoundPlace {
        private final long bookingChanges;
        private final List<FoundPlace> besides;
        private final Place place;

        /** @param besides the reservations in the pool that were made before */
        FoundPlace(long bookingChanges, List<FoundPlace> besides, Place place) {
            this.bookingChanges = bookingChanges;
            this.besides = List.copyOf(besides);
            this.place = place;
        }

        Optional<Allocation> place() {
            return place.allocation();
        }

        OptionalInt ended() {
            return place.ended();
        }
    }

    /**
     * A place that comes free.
     *
     * @param allocation absent if there is no place even after all work has ended
     * @param ended the number of workloads that end before; absent if the place is free now
     */
    record Place(Optional<Allocation> allocation, OptionalInt ended) {
        static final Place NONE = new Place(Optional.empty(), OptionalInt.empty());
    }

    /** Begins a plan, whose searches may use the results of the last one. */
    void begin() {
        foundBefore = found;
        found = new HashMap<>();
    }

    /** The result that a search would have again; empty if it must be made. */
    Optional<FoundPlace> findKnown(
            PoolCapacity poolCapacity, SchedulingClass holder, long bookingChanges, List<FoundPlace> besides) {
        FoundPlace known = foundBefore.getOrDefault(poolCapacity, Map.of()).get(holder);
        return known != null && known.bookingChanges == bookingChanges && known.besides.equals(besides)
                ? Optional.of(known)
                : Optional.empty();
    }

    void recordFound(PoolCapacity poolCapacity, SchedulingClass holder, FoundPlace foundPlace) {
        found.computeIfAbsent(poolCapacity, pool -> new HashMap<>()).put(holder, foundPlace);
    }

    /**
     * A reservation, as far as it binds other work.
     *
     * @param freeAtMillis when its whole place is free; 0 if that time has come
     */
    record PastReservation(SchedulingClass holder, Allocation place, long freeAtMillis, boolean withinReserved) {}

    /** Replaces the reservations of the last plan, and records which pools have others now. */
    void replace(Map<PoolCapacity, List<PastReservation>> now) {
        Set<PoolCapacity> concerned = new LinkedHashSet<>(last.keySet());
        concerned.addAll(now.keySet());
        for (PoolCapacity poolCapacity : concerned) {
            if (!now.getOrDefault(poolCapacity, List.of()).equals(last.getOrDefault(poolCapacity, List.of()))) {
                poolCapacity.recordReservationChange();
            }
        }
        last = now;
    }

    /** Removes the reservation of a class that starts or gets a nomination. */
    void removeReservation(PoolCapacity poolCapacity, SchedulingClass holder) {
        List<PastReservation> left = new ArrayList<>(last.getOrDefault(poolCapacity, List.of()));
        left.removeIf(kept -> kept.holder() == holder);
        last.put(poolCapacity, left);
        poolCapacity.recordReservationChange();
    }
}
