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

/** The capacity reservations and the quotas that turn by themselves, and what they make of the quotas at a moment and later. */
public final class QuotaCalendar {
    private static final SortedSet<Long> NONE = Collections.emptySortedSet();

    private final SortedMap<CapacityReservationId, ReservationWindow> reservations = new TreeMap<>();
    private final SortedMap<Scope, SortedMap<QuotaPath, Quota>> turning = new TreeMap<>();
    private final SortedMap<PoolId, Hours> hours = new TreeMap<>();

    /** Whether nothing that is known turns by itself. */
    public boolean isEmpty() {
        return reservations.isEmpty() && turning.isEmpty() && hours.isEmpty();
    }

    /** Takes note of a pool as it was stated. */
    void note(Pool pool) {
        pool.hours().ifPresentOrElse(kept -> hours.put(pool.id(), kept), () -> hours.remove(pool.id()));
    }

    boolean anyHours() {
        return !hours.isEmpty();
    }

    /** Whether some pool preempts what runs when it closes: then it matters how long work will run. */
    public boolean anyPreemptsAtClose() {
        return hours.values().stream().anyMatch(kept -> kept.atClose() == Hours.AtClose.PREEMPT);
    }

    /** Takes note of a quota as it was stated. */
    void note(Quota quota) {
        if (quota.changesByItself()) {
            turning.computeIfAbsent(quota.scope(), scope -> new TreeMap<>()).put(quota.path(), quota);
        } else {
            forget(quota.path(), quota.scope());
        }
    }

    void forget(QuotaPath path, Scope scope) {
        turning.computeIfPresent(scope, (key, ofScope) -> {
            ofScope.remove(path);
            return ofScope.isEmpty() ? null : ofScope;
        });
    }

    Collection<ReservationWindow> all() {
        return reservations.values();
    }

    /** Returns whether it was news. */
    boolean set(ReservationWindow reservation) {
        return !reservation.equals(reservations.put(reservation.id(), reservation));
    }

    /** Returns whether it was news. */
    boolean remove(CapacityReservationId id) {
        return reservations.remove(id) != null;
    }

    boolean removePool(PoolId pool) {
        turning.remove(Scope.of(pool));
        hours.remove(pool);
        return reservations.values().removeIf(reservation -> reservation.pool().equals(pool));
    }

    void takeOver(QuotaCalendar other) {
        reservations.putAll(other.reservations);
        hours.putAll(other.hours);
        other.turning.forEach((scope, ofScope) -> turning.put(scope, new TreeMap<>(ofScope)));
    }

    /** The quotas as they are at a moment, each with what it turns to later. */
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
        turning.forEach((scope, ofScope) -> {
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
        quota.turns().forEach(turn -> moments.add(turn.atMillis()));
        for (ReservationWindow window : windows) {
            moments.add(window.fromMillis());
            moments.add(window.untilMillis());
        }
        List<Quota.Turn> turns = new ArrayList<>();
        for (long moment : moments.tailSet(nowMillis + 1)) {
            Quota then = raised(quota.at(moment), windows, moment);
            turns.add(new Quota.Turn(moment, then.reservedGpuMilli(), then.limitGpuMilli()));
        }
        return raised(quota.at(nowMillis), windows, nowMillis).withTurns(turns);
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
     * The next moment at which the quotas turn, or at which work that must end before such a moment may not begin any more.
     *
     * @param runtimesMillis how long such work may run, by tenant
     */
    public OptionalLong nextTurn(long nowMillis, SortedMap<String, SortedSet<Long>> runtimesMillis) {
        Next next = new Next(nowMillis, runtimesMillis);
        for (ReservationWindow each : reservations.values()) {
            next.turn(each.path(), each.fromMillis());
            next.turn(each.path(), each.untilMillis());
        }
        for (SortedMap<QuotaPath, Quota> ofScope : turning.values()) {
            ofScope.forEach((path, quota) -> {
                quota.turns().forEach(turn -> next.turn(path, turn.atMillis()));
                quota.drainByMillis().ifPresent(next::sooner);
            });
        }
        for (Hours kept : hours.values()) {
            kept.nextTurn(nowMillis).ifPresent(turn -> next.turnOfPool(turn, kept.atClose() == Hours.AtClose.PREEMPT));
        }
        return next.moment;
    }

    /** The earliest of the moments that it is told of, as far as they are to come. */
    private static final class Next {
        private final long nowMillis;
        private final SortedMap<String, SortedSet<Long>> runtimesMillis;
        private OptionalLong moment = OptionalLong.empty();

        Next(long nowMillis, SortedMap<String, SortedSet<Long>> runtimesMillis) {
            this.nowMillis = nowMillis;
            this.runtimesMillis = runtimesMillis;
        }

        void turn(QuotaPath path, long atMillis) {
            if (atMillis <= nowMillis) {
                return;
            }
            sooner(atMillis);
            for (long runtime : runtimesMillis.getOrDefault(path.tenant(), NONE)) {
                sooner(atMillis - runtime + 1);
            }
        }

        /** @param stopsWork whether work must have ended then */
        void turnOfPool(long atMillis, boolean stopsWork) {
            sooner(atMillis);
            for (SortedSet<Long> runtimes : stopsWork ? runtimesMillis.values() : List.<SortedSet<Long>>of()) {
                runtimes.forEach(runtime -> sooner(atMillis - runtime + 1));
            }
        }

        private void sooner(long millis) {
            if (millis > nowMillis && millis < moment.orElse(Long.MAX_VALUE)) {
                moment = OptionalLong.of(millis);
            }
        }
    }
}
