package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.CapacityReservationId;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ReservationWindow;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.platform.TenantId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The quotas, caps, capacity reservations and suspended groups of a tenant that the engine knows, so that those which
 * no longer exist can be removed.
 */
public final class PublishedQuotas {

    private record Key(QuotaPath path, Scope scope) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            int byPath = path.compareTo(other.path);
            return byPath != 0 ? byPath : scope.compareTo(other.scope);
        }
    }

    private final Map<TenantId, Set<Key>> quotas = new HashMap<>();
    private final Map<TenantId, Set<QuotaPath>> caps = new HashMap<>();

    private final Map<TenantId, Set<CapacityReservationId>> calendar = new HashMap<>();

    private final Map<TenantId, Set<QuotaPath>> suspended = new HashMap<>();

    /** Adds the changes that bring the engine to exactly this state of the tenant. */
    public void publish(QuotaFacts fact, List<Change> changes) {
        Set<Key> now = new TreeSet<>();
        fact.quotas().forEach(quota -> {
            now.add(new Key(quota.path(), quota.scope()));
            changes.add(new Change.QuotaSet(quota));
        });
        removed(quotas.put(fact.tenant(), now), now)
                .forEach(key -> changes.add(new Change.QuotaRemoved(key.path(), key.scope())));
        Set<QuotaPath> capped = new TreeSet<>();
        for (ConcurrencyCaps each : fact.caps()) {
            capped.add(each.path());
            changes.add(new Change.CapsSet(each));
        }
        removed(caps.put(fact.tenant(), capped), capped).forEach(path -> changes.add(new Change.CapsRemoved(path)));
        Set<CapacityReservationId> reservations = new TreeSet<>();
        for (ReservationWindow each : fact.calendar()) {
            reservations.add(each.id());
            changes.add(new Change.CapacityReservationSet(each));
        }
        removed(calendar.put(fact.tenant(), reservations), reservations)
                .forEach(id -> changes.add(new Change.CapacityReservationRemoved(id)));
        changes.add(new Change.AccountStatusSet(
                QuotaPath.of(fact.tenant().value()),
                fact.suspended() ? Change.AccountStatus.SUSPENDED : Change.AccountStatus.ACTIVE));
        removed(suspended.put(fact.tenant(), fact.suspendedPaths()), fact.suspendedPaths())
                .forEach(path -> changes.add(new Change.AccountStatusSet(path, Change.AccountStatus.ACTIVE)));
        fact.suspendedPaths()
                .forEach(path -> changes.add(new Change.AccountStatusSet(path, Change.AccountStatus.SUSPENDED)));
    }

    private static <K> Set<K> removed(@Nullable Set<K> before, Set<K> now) {
        Set<K> gone = before == null ? new TreeSet<>() : new TreeSet<>(before);
        gone.removeAll(now);
        return gone;
    }
}
