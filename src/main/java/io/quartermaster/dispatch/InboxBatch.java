package io.quartermaster.dispatch;

import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.platform.inbox.Inbox;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/** A bounded batch of the inbox: in turn by tenant, so that one tenant's thousand submissions do not hold up another's one. */
record InboxBatch(List<Long> ids, Map<Inbox.Kind, Set<String>> refs, Set<TenantId> tenantsWithChangedQuotas) {

    /** Ids of workloads as rows of the inbox name them. */
    private static final String NAMES_WORKLOAD = "kind in ('workload', 'report')";

    /**
     * Each tenant's oldest rows up to its even part of the limit, then the oldest of all. Tenants are found one by one in the index: an inbox
     * that is long because of one tenant is not read to its end.
     */
    private static final String OLDEST = """
            with recursive named (tenant_id) as (
                (select min(tenant_id) from inbox where cell_id = $1 and set_aside_at is null)
                union all
                select (select min(i.tenant_id) from inbox i where i.cell_id = $1 and i.set_aside_at is null and i.tenant_id > n.tenant_id)
                  from named n where n.tenant_id is not null),
            part as (select greatest(1, $2 / greatest(1, count(*)))::int as rows from named where tenant_id is not null),
            fair as (
                select i.* from named n cross join part p cross join lateral (
                    select id, tenant_id, kind, ref from inbox
                     where cell_id = $1 and tenant_id = n.tenant_id and set_aside_at is null and not (NAMES_WORKLOAD and ref = any($3))
                     order by id limit p.rows) i
                union all
                select i.* from part p cross join lateral (
                    select id, tenant_id, kind, ref from inbox
                     where cell_id = $1 and tenant_id is null and set_aside_at is null order by id limit p.rows) i),
            oldest as (
                select id, tenant_id, kind, ref from inbox
                 where cell_id = $1 and set_aside_at is null and not (NAMES_WORKLOAD and ref = any($3)) order by id limit $2)
            select id, tenant_id, kind, ref from (select *, 1 as pass from fair union all select *, 2 from oldest) candidate
             group by id, tenant_id, kind, ref order by min(pass), id limit $2
            """.replace("NAMES_WORKLOAD", NAMES_WORKLOAD);

    /** No row at all. */
    static final InboxBatch NONE = of(List.of());

    /** @param without workloads whose rows stay where they are */
    static InboxBatch take(SystemTransaction transaction, String cell, PoisonRowFinder.Take take, Set<UUID> without) {
        return of(rows(transaction, cell, take, without));
    }

    /** The rows as they are stored: whether they can be read is another question. */
    static List<Row> rows(SystemTransaction transaction, String cell, PoisonRowFinder.Take take, Set<UUID> without) {
        List<Row> rows = new ArrayList<>();
        switch (take) {
            case PoisonRowFinder.Take.Oldest(int limit, boolean leftovers) ->
                transaction.run(OLDEST, cell, limit, names(without)).forEach(rows::add);
            case PoisonRowFinder.Take.Nothing() -> {}
            case PoisonRowFinder.Take.Only(long id) ->
                transaction
                        .run(
                                "select id, tenant_id, kind, ref from inbox where cell_id = $1 and id = $2 and set_aside_at is null",
                                cell,
                                id)
                        .forEach(rows::add);
        }
        return rows;
    }

    static List<Long> ids(List<Row> rows) {
        return rows.stream().map(row -> row.getLong("id")).toList();
    }

    /** What names workloads and was posted for them: what they are wished and reported to be. Rows that name none by an id are left. */
    static InboxBatch takeOfWorkloads(SystemTransaction transaction, String cell, int limit, Set<UUID> without) {
        return of(transaction.run(
                "select id, tenant_id, kind, ref from inbox where cell_id = $1 and set_aside_at is null and "
                        + NAMES_WORKLOAD
                        + " and ref ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and not ref = any($3) order by id limit $2",
                cell,
                limit,
                names(without)));
    }

    private static String[] names(Set<UUID> workloads) {
        return workloads.stream().map(UUID::toString).toArray(String[]::new);
    }

    /** Throws when one of them names nothing that this version knows. */
    static InboxBatch of(Iterable<Row> rows) {
        List<Long> ids = new ArrayList<>();
        Map<Inbox.Kind, Set<String>> refs = new EnumMap<>(Inbox.Kind.class);
        Set<TenantId> quotas = new TreeSet<>();
        for (Row row : rows) {
            ids.add(row.getLong("id"));
            Inbox.Kind kind = Inbox.Kind.valueOf(row.getString("kind").toUpperCase(Locale.ROOT));
            refs.computeIfAbsent(kind, k -> new TreeSet<>()).add(row.getString("ref"));
            switch (kind) {
                case TENANT, ALLOTMENT, POLICY -> quotas.add(new TenantId(row.getString("tenant_id")));
                case POOL, NODE, QUEUE, PROFILE, WORKLOAD, REPORT -> {}
            }
        }
        return new InboxBatch(ids, refs, quotas);
    }

    boolean isEmpty() {
        return ids.isEmpty();
    }

    Set<UUID> uuids(Inbox.Kind... kinds) {
        Set<UUID> found = new TreeSet<>();
        for (Inbox.Kind kind : kinds) {
            refs.getOrDefault(kind, Set.of()).forEach(ref -> found.add(UUID.fromString(ref)));
        }
        return found;
    }

    void delete(SystemTransaction transaction) {
        if (!ids.isEmpty()) {
            transaction.send("delete from inbox where id = any($1)", (Object) ids.toArray(Long[]::new));
        }
    }
}
