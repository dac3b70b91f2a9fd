package io.quartermaster.dispatch;

import io.quartermaster.dispatch.CapacityFacts.NodeFact;
import io.quartermaster.dispatch.CapacityFacts.PoolFact;
import io.quartermaster.engine.Change;
import io.quartermaster.engine.QueueOrder;
import io.quartermaster.platform.SystemTransaction;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.Words;
import io.vertx.mutiny.sqlclient.Row;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * All that the tables say of a cell and an engine is built from.
 *
 * @param allPools whether any policy counts over all pools
 * @param strictQueues that start their work in strict order
 * @param pastUse what is stored of it, with a fairness window or without
 */
record CellFacts(
        List<PoolFact> pools,
        List<NodeFact> nodes,
        boolean allPools,
        List<QuotaFacts> quotas,
        List<Change.QueueSet> strictQueues,
        List<Change.PastUseSet> pastUse,
        List<WorkloadRecord> workloads) {

    /** @param stamp nodes whose lease ended before it are down */
    static CellFacts read(SystemTransaction transaction, String cell, OffsetDateTime stamp) {
        return read(transaction, cell, stamp, Long.MAX_VALUE);
    }

    /** @param throughSequence workloads submitted later are left out */
    static CellFacts read(SystemTransaction transaction, String cell, OffsetDateTime stamp, long throughSequence) {
        boolean allPools = QuotaFacts.anyCountsAllPools(transaction);
        return new CellFacts(
                CapacityFacts.pools(transaction, null),
                CapacityFacts.nodes(transaction, stamp, null),
                allPools,
                QuotaFacts.read(transaction, stamp, everyTenant(transaction), allPools),
                strictQueues(transaction),
                KeptPastUse.read(transaction, cell),
                new CellReader(transaction).live(throughSequence));
    }

    private static List<Change.QueueSet> strictQueues(SystemTransaction transaction) {
        List<Change.QueueSet> strict = new ArrayList<>();
        transaction
                .run("select id, start_order from queue where start_order = 'strict-fifo' and retired_at is null")
                .forEach(row -> strict.add(queue(row)));
        return strict;
    }

    /** These, of whatever order; one that is retired has none. */
    static List<Change.QueueSet> queues(SystemTransaction transaction, Set<UUID> ids) {
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
                EngineFacts.queue(row.getUUID("id")), Words.stored(QueueOrder.class, row.getString("start_order")));
    }

    static Set<TenantId> everyTenant(SystemTransaction transaction) {
        Set<TenantId> tenants = new TreeSet<>();
        transaction.run("select id from tenant").forEach(row -> tenants.add(new TenantId(row.getString("id"))));
        return tenants;
    }
}
