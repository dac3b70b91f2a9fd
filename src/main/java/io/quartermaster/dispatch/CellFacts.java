package io.quartermaster.dispatch;

import io.quartermaster.dispatch.CapacityFacts.NodeFact;
import io.quartermaster.dispatch.CapacityFacts.PoolFact;
import io.quartermaster.engine.Change;
import io.quartermaster.platform.SystemTransaction;
import io.quartermaster.platform.TenantId;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * All that the tables say of a cell and an engine is built from.
 *
 * @param allPools whether any policy counts over all pools
 * @param pastUse what is stored of it, with a fairness window or without
 */
record CellFacts(
        List<PoolFact> pools,
        List<NodeFact> nodes,
        boolean allPools,
        List<QuotaFacts> quotas,
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
                KeptPastUse.read(transaction, cell),
                new CellReader(transaction).live(throughSequence));
    }

    static Set<TenantId> everyTenant(SystemTransaction transaction) {
        Set<TenantId> tenants = new TreeSet<>();
        transaction.run("select id from tenant").forEach(row -> tenants.add(new TenantId(row.getString("id"))));
        return tenants;
    }
}
