package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.state.SchedulingClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The backfill reservations with which the last plan ended. Reservations are computed anew in each plan. Where they are
 * the same as before, attempts that failed beside them need no repetition.
 */
public final class ReservationHistory {
    private Map<PoolCapacity, List<Kept>> last = new HashMap<>();

    /**
     * A reservation, as far as it binds other work.
     *
     * @param freeAtMillis when its whole place is free; 0 if that time has come
     */
    record Kept(SchedulingClass holder, Allocation place, long freeAtMillis, boolean withinReserved) {}

    /** Replaces the reservations of the last plan, and records which pools have others now. */
    void replace(Map<PoolCapacity, List<Kept>> now) {
        Set<PoolCapacity> concerned = new HashSet<>(last.keySet());
        concerned.addAll(now.keySet());
        for (PoolCapacity poolCapacity : concerned) {
            if (!now.getOrDefault(poolCapacity, List.of()).equals(last.getOrDefault(poolCapacity, List.of()))) {
                poolCapacity.reservationsChanged();
            }
        }
        last = now;
    }

    /** Removes the reservation of a class that starts or gets a nomination. */
    void fulfilled(PoolCapacity poolCapacity, SchedulingClass holder) {
        List<Kept> left = new ArrayList<>(last.getOrDefault(poolCapacity, List.of()));
        left.removeIf(kept -> kept.holder() == holder);
        last.put(poolCapacity, left);
        poolCapacity.reservationsChanged();
    }
}
