package io.quartermaster.engine.state;

import io.quartermaster.engine.model.CapacityReservationId;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ReservationWindow;
import io.quartermaster.engine.model.Scope;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The capacity reservations, the opening hours, and the quotas with transitions, with their effects on the quotas at a
 * moment and later.
 */
public final class QuotaCalendar {
    private static final SortedSet<Long> NO_RUNTIMES = Collections.emptySortedSet();

    private final SortedMap<CapacityReservationId, ReservationWindow> reservations = new TreeMap<>();
    private final SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotasWithTransitions = new TreeMap<>();
    private final SortedMap<PoolId, Hours> hours = new TreeMap<>();

    /** Whether nothing known changes with the calendar. */
    public boolean isEmpty() {
        return reservations.isEmpty() && quotasWithTransitions.isEmpty() && hours.isEmpty();
    }

    /** Records the opening hours of a pool as it was stated. */
    void record(Pool pool) {
        pool.hours().ifPresentOrElse(kept -> hours.put(pool.id(), kept), () -> hours.remove(pool.id()));
    }

    boolean anyHours() {
        return !hours.isEmpty();
    }

    /** Whether some pool preempts at closing; then the run time of work matters. */
    public boolean anyPreemptsAtClose() {
        return hours.values().stream().anyMatch(kept -> kept.atClose() == Hours.AtClose.PREEMPT);
    }

    /** Records a quota as it was stated. */
    void record(Quota quota) {
        if (quota.changesByItself()) {
            quotasWithTransitions
                    .computeIfAbsent(quota.scope(), scope -> new TreeMap<>())
                    .put(quota.path(), quota);
        } else {
            removeQuota(quota.path(), quota.scope());
        }
    }

    void removeQuota(QuotaPath path, Scope scope) {
        quotasWithTransitions.computeIfPresent(scope, (key, ofScope) -> {
            ofScope.remove(path);
            return ofScope.isEmpty() ? null : ofScope;
        });
    }

    Collection<ReservationWindow> reservations() {
        return reservations.values();
    }

    /** Returns whether the reservation changed. */
    boolean setReservation(ReservationWindow reservation) {
        return !reservation.equals(reservations.put(reservation.id(), reservation));
    }

    /** Returns whether there was such a reservation. */
    boolean removeReservation(CapacityReservationId id) {
        return reservations.remove(id) != null;
    }

    boolean removePool(PoolId pool) {
        quotasWithTransitions.remove(Scope.of(pool));
        hours.remove(pool);
        return reservations.values().removeIf(reservation -> reservation.pool().equals(pool));
    }

    void copyFrom(QuotaCalendar other) {
        reservations.putAll(other.reservations);
        hours.putAll(other.hours);
        other.quotasWithTransitions.forEach(
                (scope, ofScope) -> quotasWithTransitions.put(scope, new TreeMap<>(ofScope)));
    }

    /** The quotas as they are at a moment, each with its later transitions. */
    SortedMap<Scope, SortedMap<QuotaPath, Quota>> quotasAt(
            long nowMillis, SortedMap<Scope, SortedMap<QuotaPath, Quota>> stated) {
        SortedMap<Scope, SortedMap<QuotaPath, List<ReservationWindow>>> held = new TreeMap<>();
        for (ReservationWindow each : reservations.values()) {
            if (each.untilMillis() > nowMillis) {
                held.computeIfAbsent(Scope.of(each.pool()), scope -> new TreeMap<>())
                        .computeIfAbsent(each.path(), path -> new ArrayList<>())
                        .add(each);
            }
        }
        quotasWithTransitions.forEach((scope, ofScope) -> {
            var byPath = held.computeIfAbsent(scope, key -> new TreeMap<>());
            ofScope.keySet().forEach(path -> byPath.putIfAbsent(path, List.of()));
        });
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

    private static Quota at(long nowMillis, Quota quota, List<ReservationWindow> windows) {
        SortedSet<Long> moments = new TreeSet<>();
        quota.transitions().forEach(transition -> moments.add(transition.atMillis()));
        for (ReservationWindow window : windows) {
            moments.add(window.fromMillis());
            moments.add(window.untilMillis());
        }
        List<Quota.Transition> transitions = new ArrayList<>();
        for (long moment : moments.tailSet(nowMillis + 1)) {
            Quota then = raised(quota.at(moment), windows, moment);
            transitions.add(new Quota.Transition(moment, then.reservedGpuMilli(), then.limitGpuMilli()));
        }
        return raised(quota.at(nowMillis), windows, nowMillis).withTransitions(transitions);
    }

    private static Quota raised(Quota quota, List<ReservationWindow> windows, long millis) {
        long more = 0;
        long lent = 0;
        for (ReservationWindow window : windows) {
            if (window.isOpenAt(millis)) {
                more += window.gpuMilli();
                lent += window.lendable() ? window.gpuMilli() : 0;
            }
        }
        return more == 0 ? quota : quota.raisedBy(more, lent);
    }

    /**
     * The next moment that matters to plans: a transition of a quota or a pool, or a moment before one. From such an
     * earlier moment on, work of a given run time no longer ends before the transition.
     *
     * @param runtimesMillis the run times of such work, by tenant
     */
    public OptionalLong nextTransition(long nowMillis, SortedMap<String, SortedSet<Long>> runtimesMillis) {
        TransitionFinder next = new TransitionFinder(nowMillis, runtimesMillis);
        for (ReservationWindow each : reservations.values()) {
            next.addQuotaTransition(each.path(), each.fromMillis());
            next.addQuotaTransition(each.path(), each.untilMillis());
        }
        for (SortedMap<QuotaPath, Quota> ofScope : quotasWithTransitions.values()) {
            ofScope.forEach((path, quota) -> {
                quota.transitions().forEach(transition -> next.addQuotaTransition(path, transition.atMillis()));
                quota.drainByMillis().ifPresent(next::keepEarliest);
            });
        }
        for (Hours kept : hours.values()) {
            kept.nextTransition(nowMillis)
                    .ifPresent(
                            transition -> next.addPoolTransition(transition, kept.atClose() == Hours.AtClose.PREEMPT));
        }
        return next.earliest;
    }

    /** Collects moments and keeps the earliest one in the future. */
    private static final class TransitionFinder {
        private final long nowMillis;
        private final SortedMap<String, SortedSet<Long>> runtimesMillis;
        private OptionalLong earliest = OptionalLong.empty();

        TransitionFinder(long nowMillis, SortedMap<String, SortedSet<Long>> runtimesMillis) {
            this.nowMillis = nowMillis;
            this.runtimesMillis = runtimesMillis;
        }

        void addQuotaTransition(QuotaPath path, long atMillis) {
            if (atMillis <= nowMillis) {
                return;
            }
            keepEarliest(atMillis);
            for (long runtime : runtimesMillis.getOrDefault(path.tenant(), NO_RUNTIMES)) {
                keepEarliest(atMillis - runtime + 1);
            }
        }

        /** @param stopsWork whether work must have ended by that moment */
        void addPoolTransition(long atMillis, boolean stopsWork) {
            keepEarliest(atMillis);
            for (SortedSet<Long> runtimes : stopsWork ? runtimesMillis.values() : List.<SortedSet<Long>>of()) {
                runtimes.forEach(runtime -> keepEarliest(atMillis - runtime + 1));
            }
        }

        private void keepEarliest(long millis) {
            if (millis > nowMillis && millis < earliest.orElse(Long.MAX_VALUE)) {
                earliest = OptionalLong.of(millis);
            }
        }
    }
}
