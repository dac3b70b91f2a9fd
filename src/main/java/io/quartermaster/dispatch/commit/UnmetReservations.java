package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;

/**
 * The part of the tenants' reservations that is requested and not honoured. It is caused by waiting workloads that
 * would be within their tenant's reserved amount in a pool. The pool has no room for them, because running workloads
 * cannot be stopped. A workload that only waits for its victims to stop is honoured. A workload that its own group's
 * rules keep from starting requests nothing; neither does a workload in a held queue.
 *
 * <p>Of several workloads, the first in scheduling order count, as far as they fit into the reservation together. Each
 * counts in one pool: the first in its order that owes it room. The class receives the complete state as it changes;
 * {@link #drainChanges} returns the levels that the ledger does not have yet.
 */
public final class UnmetReservations {

    /** From now on, this amount of the tenant's reservation in the pool is requested and not honoured. */
    public record Level(TenantId tenant, UUID pool, long gpuMilli) {}

    private static final Comparator<WaitingWork> QUEUE_ORDER = Comparator.<WaitingWork>comparingInt(
                    waiting -> -waiting.priority())
            .thenComparing(waiting -> !waiting.atHead())
            .thenComparingLong(WaitingWork::place)
            .thenComparingLong(WaitingWork::sequence)
            .thenComparing(WaitingWork::id);

    private record WaitingWork(
            UUID id, int priority, boolean atHead, long place, long sequence, WorkloadRecord.Terms terms) {}

    private record HeldAmount(UUID pool, long gpuMilli) {}

    private static final class TenantReservations {
        private Map<UUID, Long> reserved = Map.of();
        /** The pools with a fence, by policy. */
        private Map<UUID, Set<UUID>> fenced = Map.of();

        private final Map<UUID, HeldAmount> held = new HashMap<>();
        private final Map<UUID, Long> used = new HashMap<>();
        private final Map<UUID, WaitingWork> waiting = new HashMap<>();
        /** The waiting workloads for which some pool has no room, in scheduling order. */
        private final SortedSet<WaitingWork> queue = new TreeSet<>(QUEUE_ORDER);

        private final SortedMap<UUID, Long> published = new TreeMap<>();
    }

    private final Function<PoolId, UUID> pools;
    private final SortedMap<TenantId, TenantReservations> tenants = new TreeMap<>();
    private final Map<UUID, TenantId> tenantOf = new HashMap<>();
    /** By waiting workload: the pools without room for it, in its order; never empty. */
    private final Map<UUID, List<UUID>> poolsWithoutRoom = new HashMap<>();

    private final SortedSet<TenantId> changedTenants = new TreeSet<>();

    public UnmetReservations(Function<PoolId, UUID> pools) {
        this.pools = pools;
    }

    /** Reads the levels that the ledger received last. */
    public void load(SystemTransaction transaction) {
        for (Row row : transaction.run("""
                select distinct on (tenant_id, kind, pool_id, policy_id) tenant_id, pool_id, gpu_milli from usage_event
                 where kind = 'unmet' order by tenant_id, kind, pool_id, policy_id, seq desc
                """)) {
            setPublished(new Level(
                    new TenantId(row.getString("tenant_id")), row.getUUID("pool_id"), row.getLong("gpu_milli")));
        }
    }

    void setPublished(Level level) {
        markChanged(level.tenant()).published.put(level.pool(), level.gpuMilli());
    }

    /**
     * @param gpuMilli the tenant's reserved amount, by pool
     * @param fences by policy, the pools in which a fence of the tenant itself keeps its workloads from reclaiming all
     *     that they otherwise could
     */
    public void setReserved(TenantId tenant, Map<UUID, Long> gpuMilli, Map<UUID, List<PoolId>> fences) {
        TenantReservations known = markChanged(tenant);
        known.reserved = Map.copyOf(gpuMilli);
        Map<UUID, Set<UUID>> fenced = new HashMap<>();
        fences.forEach((policy, names) -> {
            Set<UUID> ids = new TreeSet<>();
            names.forEach(name -> ids.add(pools.apply(name)));
            fenced.put(policy, ids);
        });
        known.fenced = fenced;
    }

    public void setWorkload(WorkloadRecord record) {
        Optional<HeldAmount> held =
                record.attempt().map(attempt -> new HeldAmount(attempt.pool(), attempt.heldGpuMilli()));
        // A paused workload waits for its own node because its policy says so; other nodes may have room.
        boolean waits = held.isEmpty() && record.state() instanceof WorkloadState.Waiting && !record.isHeldInQueue();
        updateWorkload(record, waits, held);
    }

    /** The workload holds this amount of the pool from now on. */
    public void setHolding(WorkloadRecord record, UUID pool, long gpuMilli) {
        updateWorkload(record, false, Optional.of(new HeldAmount(pool, gpuMilli)));
    }

    private void updateWorkload(WorkloadRecord record, boolean waits, Optional<HeldAmount> held) {
        TenantReservations tenant = markChanged(record.tenant());
        WaitingWork before = tenant.waiting.remove(record.id());
        if (before != null) {
            tenant.queue.remove(before);
        }
        HeldAmount heldBefore = tenant.held.remove(record.id());
        if (heldBefore != null) {
            tenant.used.merge(heldBefore.pool(), -heldBefore.gpuMilli(), Long::sum);
        }
        held.ifPresent(now -> {
            tenant.held.put(record.id(), now);
            tenant.used.merge(now.pool(), now.gpuMilli(), Long::sum);
        });
        if (waits) {
            WaitingWork now = new WaitingWork(
                    record.id(),
                    record.priority(),
                    record.isAtHead(),
                    record.place().orElse(Long.MAX_VALUE),
                    record.sequence(),
                    record.terms());
            tenant.waiting.put(now.id(), now);
            if (poolsWithoutRoom.containsKey(now.id())) {
                tenant.queue.add(now);
            }
            tenantOf.put(now.id(), record.tenant());
        } else {
            poolsWithoutRoom.remove(record.id());
            tenantOf.remove(record.id());
        }
    }

    /**
     * Updates the reasons for waiting from a plan. If the plan has no reason for a workload, its previous reason still
     * holds.
     */
    public void applyReasons(List<WaitReasons> waits) {
        for (WaitReasons waitReasons : waits) {
            UUID id = UUID.fromString(waitReasons.workload().value());
            TenantId tenant = tenantOf.get(id);
            if (tenant != null) {
                List<UUID> without = waitReasons.perPool().stream()
                        .filter(reason -> isNoRoom(reason.code()))
                        .map(reason -> pools.apply(reason.pool()))
                        .toList();
                enqueue(markChanged(tenant), id, without);
            }
        }
    }

    private void enqueue(TenantReservations tenant, UUID id, List<UUID> without) {
        WaitingWork waiting = tenant.waiting.get(id);
        if (waiting == null || without.isEmpty()) {
            poolsWithoutRoom.remove(id);
            if (waiting != null) {
                tenant.queue.remove(waiting);
            }
        } else {
            poolsWithoutRoom.put(id, without);
            tenant.queue.add(waiting);
        }
    }

    private static boolean isNoRoom(Reason.Code code) {
        return switch (code) {
            case NODES_CLOSED, HELD_FOR_OTHERS, BEHIND, NO_CAPACITY, FRAGMENTED -> true;
            case SUSPENDED,
                    NO_EXECUTOR,
                    CLOSED,
                    BUDGET,
                    NOMINATED,
                    NO_SUCH_NODE,
                    LIMIT,
                    OVER_QUOTA_OFF,
                    NOT_PREEMPTIBLE -> false;
        };
    }

    /** The levels that differ from those that the ledger received last; afterwards they count as received. */
    public List<Level> drainChanges() {
        List<Level> changed = new ArrayList<>();
        for (TenantId id : changedTenants) {
            TenantReservations tenant = reservationsOf(id);
            SortedMap<UUID, Long> now = unmet(tenant);
            tenant.published.keySet().forEach(pool -> now.putIfAbsent(pool, 0L));
            now.forEach((pool, gpuMilli) -> {
                if (!gpuMilli.equals(tenant.published.getOrDefault(pool, 0L))) {
                    changed.add(new Level(id, pool, gpuMilli));
                }
            });
            tenant.published.putAll(now);
        }
        changedTenants.clear();
        return changed;
    }

    private SortedMap<UUID, Long> unmet(TenantReservations tenant) {
        SortedMap<UUID, Long> owed = new TreeMap<>();
        tenant.reserved.forEach((pool, reserved) -> {
            long left = reserved - tenant.used.getOrDefault(pool, 0L);
            if (left > 0) {
                owed.put(pool, left);
            }
        });
        SortedMap<UUID, Long> unmet = new TreeMap<>();
        for (WaitingWork waiting : tenant.queue) {
            if (owed.isEmpty()) {
                break;
            }
            for (UUID pool : poolsWithoutRoom.getOrDefault(waiting.id(), List.of())) {
                long left = owed.getOrDefault(pool, 0L);
                long asked = waiting.terms().startGpuMilli(pool);
                boolean fenced = tenant.fenced
                        .getOrDefault(waiting.terms().policy(), Set.of())
                        .contains(pool);
                if (asked > 0 && asked <= left && !fenced) {
                    unmet.merge(pool, asked, Long::sum);
                    owed.put(pool, left - asked);
                    owed.remove(pool, 0L);
                    break;
                }
            }
        }
        return unmet;
    }

    private TenantReservations markChanged(TenantId tenant) {
        changedTenants.add(tenant);
        return reservationsOf(tenant);
    }

    private TenantReservations reservationsOf(TenantId tenant) {
        return tenants.computeIfAbsent(tenant, id -> new TenantReservations());
    }
}
