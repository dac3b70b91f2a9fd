package io.quartermaster.workloads.search;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.workloads.WorkloadApi;
import io.quartermaster.workloads.WorkloadStore;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.hibernate.reactive.mutiny.Mutiny;

/** Lists and counts the workloads that match a filter. */
@ApplicationScoped
class WorkloadSearch {

    private final TenantTransactions transactions;
    private final WorkloadStore store;

    WorkloadSearch(TenantTransactions transactions, WorkloadStore store) {
        this.transactions = transactions;
        this.store = store;
    }

    Uni<Page<WorkloadApi.View>> list(TenantId tenant, WorkloadFilter filter, WorkloadSort sort, PageRequest page) {
        String scope = "workloads:" + tenant + ":" + filter + sort;
        Optional<String> after = page.after(scope);
        int size = page.size();
        return transactions
                .in(tenant, session -> list(session, tenant, filter, sort, after, size + 1))
                .map(found -> Page.of(found, size, scope, sort::token));
    }

    private Uni<List<WorkloadApi.View>> list(
            Mutiny.Session session,
            TenantId tenant,
            WorkloadFilter filter,
            WorkloadSort sort,
            Optional<String> after,
            int max) {
        WorkloadFilter.Conditions matches = filter.conditions();
        WorkloadFilter.Conditions later = sort.after(after);
        Map<String, Object> parameters = new LinkedHashMap<>(matches.parameters());
        parameters.putAll(later.parameters());
        parameters.put("most", max);
        return store.views(
                session,
                tenant,
                "select w.id from workload w where w.tenant_id = :tenant" + matches.sql() + sort.condition()
                        + later.sql() + sort.orderBy() + " limit :most",
                sort.orderBy(),
                parameters);
    }

    Uni<WorkloadCount> count(TenantId tenant, WorkloadFilter filter) {
        WorkloadFilter.Conditions matches = filter.conditions();
        return transactions
                .in(tenant, session -> {
                    Mutiny.SelectionQuery<Object[]> query = session.createNativeQuery(
                            "select c.state, count(*) from (select w.state from workload w where w.tenant_id = :tenant"
                                    + matches.sql() + " limit :most) c group by c.state order by c.state",
                            Object[].class);
                    matches.parameters().forEach(query::setParameter);
                    return query.setParameter("tenant", tenant.value())
                            .setParameter("most", WorkloadCount.MOST)
                            .getResultList();
                })
                .map(rows -> {
                    Map<String, Long> counts = new LinkedHashMap<>();
                    rows.forEach(row -> counts.put((String) row[0], ((Number) row[1]).longValue()));
                    return WorkloadCount.of(counts);
                });
    }
}
