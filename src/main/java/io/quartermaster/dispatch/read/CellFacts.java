package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.read.CapacityFacts.Executors;
import io.quartermaster.dispatch.read.CapacityFacts.NodeFact;
import io.quartermaster.dispatch.read.CapacityFacts.PoolFact;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The complete stored state of a cell, from which an engine is built.
 *
 * @param allPools whether any policy counts over all pools
 * @param strictQueues queues that start their workloads in strict order
 * @param pastUse the stored past use, with or without a fairness window
 */
public record CellFacts(
        List<PoolFact> pools,
        List<NodeFact> nodes,
        boolean allPools,
        List<QuotaFacts> quotas,
        List<Change.QueueSet> strictQueues,
        List<Change.PastUseSet> pastUse,
        List<WorkloadRecord> workloads) {

    /** @param stamp nodes whose lease ended before it are down */
    static CellFacts read(SystemTransaction transaction, String cell, OffsetDateTime stamp, Executors executors) {
        return read(transaction, cell, stamp, executors, Extent.ALL);
    }

    /** The part of the stored state to read. */
    public sealed interface Extent {

        Extent ALL = new Workloads(Long.MAX_VALUE);
        Extent NOTHING = new Tenants(Optional.empty());

        /** Everything except workloads that were submitted later. */
        record Workloads(long throughSequence) implements Extent {}

        /** No workloads, and the terms of tenants up to this one in the order of their ids; absent: of no tenant. */
        record Tenants(Optional<TenantId> through) implements Extent {}

        static Extent ofWorkloads(long throughSequence) {
            return new Workloads(throughSequence);
        }

        static Extent ofTenants(TenantId through) {
            return new Tenants(Optional.of(through));
        }

        private long throughSequence() {
            return switch (this) {
                case Workloads workloads -> workloads.throughSequence;
                case Tenants tenants -> 0;
            };
        }

        private Set<TenantId> tenantsWithin(SortedSet<TenantId> all) {
            return switch (this) {
                case Workloads workloads -> all;
                case Tenants tenants ->
                    tenants.through
                            .map(last -> new TreeSet<>(all).headSet(last, true))
                            .orElseGet(TreeSet::new);
            };
        }
    }

    public static CellFacts read(
            SystemTransaction transaction, String cell, OffsetDateTime stamp, Executors executors, Extent extent) {
        boolean allPools = QuotaFacts.anyCountsAllPools(transaction);
        return new CellFacts(
                CapacityFacts.pools(transaction, executors, null),
                CapacityFacts.nodes(transaction, stamp, null),
                allPools,
                QuotaFacts.read(transaction, stamp, extent.tenantsWithin(readTenants(transaction)), allPools),
                strictQueues(transaction),
                UsageHistoryStore.read(transaction, cell),
                new CellReader(transaction, CellReader.millis(stamp)).readLiveThrough(extent.throughSequence()));
    }

    private static List<Change.QueueSet> strictQueues(SystemTransaction transaction) {
        List<Change.QueueSet> strict = new ArrayList<>();
        transaction
                .run("select id, start_order from queue where start_order = 'strict-fifo' and retired_at is null")
                .forEach(row -> strict.add(queue(row)));
        return strict;
    }

    /** These queues, with their start order; a retired queue has no strict order. */
    public static List<Change.QueueSet> queues(SystemTransaction transaction, Set<UUID> ids) {
        List<Change.QueueSet> queues = new ArrayList<>();
        if (!ids.isEmpty()) {
            transaction
                    .run(
                            "select id, case when retired_at is null then start_order else 'skip-ahead' end as "
                                    + "start_order from queue where id = any($1)",
                            (Object) CellReader.array(ids))
                    .forEach(row -> queues.add(queue(row)));
        }
        return queues;
    }

    private static Change.QueueSet queue(Row row) {
        return new Change.QueueSet(
                EngineFacts.queue(row.getUUID("id")), EnumNames.stored(QueueOrder.class, row.getString("start_order")));
    }

    /** All tenants that are not quarantined. */
    public static SortedSet<TenantId> readTenants(SystemTransaction transaction) {
        SortedSet<TenantId> tenants = new TreeSet<>();
        transaction
                .run("select id from tenant where set_aside_at is null")
                .forEach(row -> tenants.add(new TenantId(row.getString("id"))));
        return tenants;
    }
}
