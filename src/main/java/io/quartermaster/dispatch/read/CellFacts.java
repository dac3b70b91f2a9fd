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
 * All that the tables say of a cell and an engine is built from.
 *
 * @param allPools whether any policy counts over all pools
 * @param strictQueues that start their work in strict order
 * @param pastUse what is stored of it, with a fairness window or without
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

    /** Which part of what is stored. */
    public sealed interface Extent {

        Extent ALL = new Workloads(Long.MAX_VALUE);
        Extent NOTHING = new Tenants(Optional.empty());

        /** All but workloads that were submitted later. */
        record Workloads(long throughSequence) implements Extent {}

        /** Without workloads, and without what is granted to tenants after this one in the order of their ids; absent = to any. */
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

        private Set<TenantId> of(SortedSet<TenantId> all) {
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
                QuotaFacts.read(transaction, stamp, extent.of(everyTenant(transaction)), allPools),
                strictQueues(transaction),
                UsageHistoryStore.read(transaction, cell),
                new CellReader(transaction, CellReader.millis(stamp)).live(extent.throughSequence()));
    }

    private static List<Change.QueueSet> strictQueues(SystemTransaction transaction) {
        List<Change.QueueSet> strict = new ArrayList<>();
        transaction
                .run("select id, start_order from queue where start_order = 'strict-fifo' and retired_at is null")
                .forEach(row -> strict.add(queue(row)));
        return strict;
    }

    /** These, of whatever order; one that is retired has none. */
    public static List<Change.QueueSet> queues(SystemTransaction transaction, Set<UUID> ids) {
        List<Change.QueueSet> queues = new ArrayList<>();
        if (!ids.isEmpty()) {
            transaction
                    .run(
                            "select id, case when retired_at is null then start_order else 'skip-ahead' end as start_order from queue where id = any($1)",
                            (Object) CellReader.array(ids))
                    .forEach(row -> queues.add(queue(row)));
        }
        return queues;
    }

    private static Change.QueueSet queue(Row row) {
        return new Change.QueueSet(
                EngineFacts.queue(row.getUUID("id")), EnumNames.stored(QueueOrder.class, row.getString("start_order")));
    }

    /** Without those that are set aside. */
    public static SortedSet<TenantId> everyTenant(SystemTransaction transaction) {
        SortedSet<TenantId> tenants = new TreeSet<>();
        transaction
                .run("select id from tenant where set_aside_at is null")
                .forEach(row -> tenants.add(new TenantId(row.getString("id"))));
        return tenants;
    }
}
