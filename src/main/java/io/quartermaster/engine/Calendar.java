package io.quartermaster.engine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** The capacity reservations, and what they make of the quotas at a moment and later. */
final class Calendar {
    private static final SortedSet<Long> NONE = Collections.emptySortedSet();

    private final SortedMap<CapacityReservationId, CapacityReservation> reservations = new TreeMap<>();

    boolean isEmpty() {
        return reservations.isEmpty();
    }

    Collection<CapacityReservation> all() {
        return reservations.values();
    }

    /** Returns whether it was news. */
    boolean set(CapacityReservation reservation) {
        return !reservation.equals(reservations.put(reservation.id(), reservation));
    }

    /** Returns whether it was news. */
    boolean remove(CapacityReservationId id) {
        return reservations.remove(id) != null;
    }

    boolean removePool(PoolId pool) {
        return reservations.values().removeIf(reservation -> reservation.pool().equals(pool));
    }

    void takeOver(Calendar other) {
        reservations.putAll(other.reservations);
    }

    /** The quotas as they are at a moment, each with what it turns to later. */
    SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotasAt(
            long nowMillis, SortedMap<Scope, SortedMap<QuotaPath, Quota>> stated) {
        SortedMap<Scope, SortedMap<QuotaPath, List<CapacityReservation>>> held = new TreeMap<>();
        for (CapacityReservation each : reservations.values()) {
            if (each.untilMillis() > nowMillis) {
                held.computeIfAbsent(Scope.of(each.pool()), scope -> new TreeMap<>())
                        .computeIfAbsent(each.path(), path -> new ArrayList<>())
                        .add(each);
            }
        }
        if (held.isEmpty()) {
            return stated;
        }
        SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotas = new TreeMap<>(stated);
        held.forEach((scope, byPath) -> quotas.computeIfPresent(scope, (key, ofScope) -> {
            SortedMap<QuotaPath, Quota> raised = new TreeMap<>(ofScope);
            byPath.forEach(
                    (path, windows) -> raised.computeIfPresent(path, (p, quota) -> at(nowMillis, quota, windows)));
            return raised;
        }));
        return quotas;
    }

    private static Quota at(long nowMillis, Quota quota, List<CapacityReservation> windows) {
        SortedSet<Long> moments = new TreeSet<>();
        for (CapacityReservation window : windows) {
            moments.add(window.fromMillis());
            moments.add(window.untilMillis());
        }
        List<Quota.Turn> turns = new ArrayList<>();
        for (long moment : moments.tailSet(nowMillis + 1)) {
            Quota then = raised(quota, windows, moment);
            turns.add(new Quota.Turn(moment, then.reservedGpuMilli(), then.limitGpuMilli()));
        }
        return raised(quota, windows, nowMillis).withTurns(turns);
    }

    private static Quota raised(Quota quota, List<CapacityReservation> windows, long millis) {
        long more = 0;
        long lent = 0;
        for (CapacityReservation window : windows) {
            if (window.isOpenAt(millis)) {
                more += window.gpuMilli();
                lent += window.lendable() ? window.gpuMilli() : 0;
            }
        }
        return more == 0 ? quota : quota.raisedBy(more, lent);
    }

    /**
     * The next moment at which the quotas turn, or at which work that must end before such a moment may not begin any more.
     *
     * @param runtimesMillis how long such work may run, by tenant
     */
    OptionalLong nextTurn(long nowMillis, SortedMap<String, SortedSet<Long>> runtimesMillis) {
        OptionalLong next = OptionalLong.empty();
        for (CapacityReservation each : reservations.values()) {
            for (long moment : List.of(each.fromMillis(), each.untilMillis())) {
                next = sooner(next, moment, nowMillis);
                for (long runtime : runtimesMillis.getOrDefault(each.path().tenant(), NONE)) {
                    next = sooner(next, moment - runtime + 1, nowMillis);
                }
            }
        }
        return next;
    }

    private static OptionalLong sooner(OptionalLong known, long moment, long nowMillis) {
        boolean sooner = moment > nowMillis && (known.isEmpty() || moment < known.getAsLong());
        return sooner ? OptionalLong.of(moment) : known;
    }
}
