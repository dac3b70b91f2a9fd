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

/**
 * A bounded batch of inbox rows, taken round-robin by tenant: a thousand submissions of one tenant do not delay the
 * single submission of another.
 */
record InboxBatch(List<Long> ids, Map<Inbox.Kind, Set<String>> refs, Set<TenantId> tenantsWithChangedQuotas) {

    /** The kinds of inbox rows whose reference is a workload's id. */
    private static final String NAMES_WORKLOAD = "kind in ('workload', 'report')";

    /**
     * Selects each tenant's oldest rows up to its equal part of the limit, then the oldest rows of all. It finds the
     * tenants one by one in the index, so an inbox that one tenant has filled is not read to its end.
     */
    private static final String SELECT_OLDEST = """
            with recursive named (tenant_id) as (
                (select min(tenant_id) from inbox where cell_id = $1 and set_aside_at is null)
                union all
                select (select min(i.tenant_id) from inbox i where i.cell_id = $1 and i.set_aside_at is null
                    and i.tenant_id > n.tenant_id)
                  from named n where n.tenant_id is not null),
            part as (select greatest(1, $2 / greatest(1, count(*)))::int as rows from named
                where tenant_id is not null),
            fair as (
                select i.* from named n cross join part p cross join lateral (
                    select id, tenant_id, kind, ref from inbox
                     where cell_id = $1 and tenant_id = n.tenant_id and set_aside_at is null
                         and not (NAMES_WORKLOAD and ref = any($3))
                     order by id limit p.rows) i
                union all
                select i.* from part p cross join lateral (
                    select id, tenant_id, kind, ref from inbox
                     where cell_id = $1 and tenant_id is null and set_aside_at is null order by id limit p.rows) i),
            oldest as (
                select id, tenant_id, kind, ref from inbox
                 where cell_id = $1 and set_aside_at is null and not (NAMES_WORKLOAD and ref = any($3))
                     order by id limit $2)
            select id, tenant_id, kind, ref from (select *, 1 as pass from fair union all select *, 2
                from oldest) candidate
             group by id, tenant_id, kind, ref order by min(pass), id limit $2
            """.replace("NAMES_WORKLOAD", NAMES_WORKLOAD);

    /** The empty batch. */
    static final InboxBatch EMPTY = of(List.of());

    /** @param without workloads whose rows stay in the inbox */
    static InboxBatch read(
            SystemTransaction transaction, String cell, PoisonRowFinder.Selection selection, Set<UUID> without) {
        return of(readRows(transaction, cell, selection, without));
    }

    /** Reads the rows without parsing them: a row may be unreadable. */
    static List<Row> readRows(
            SystemTransaction transaction, String cell, PoisonRowFinder.Selection selection, Set<UUID> without) {
        List<Row> rows = new ArrayList<>();
        switch (selection) {
            case PoisonRowFinder.Selection.Oldest(int limit, boolean pendingSteps) ->
                transaction.run(SELECT_OLDEST, cell, limit, toTexts(without)).forEach(rows::add);
            case PoisonRowFinder.Selection.None() -> {}
            case PoisonRowFinder.Selection.Only(long id) ->
                transaction
                        .run(
                                "select id, tenant_id, kind, ref from inbox where cell_id = $1 and id = $2 and "
                                        + "set_aside_at is null",
                                cell,
                                id)
                        .forEach(rows::add);
        }
        return rows;
    }

    static List<Long> ids(List<Row> rows) {
        return rows.stream().map(row -> row.getLong("id")).toList();
    }

    /**
     * Takes the rows that concern single workloads: their desired states and their reports. Rows without a workload's
     * id stay in the inbox.
     */
    static InboxBatch readOfWorkloads(SystemTransaction transaction, String cell, int limit, Set<UUID> without) {
        return of(transaction.run(
                "select id, tenant_id, kind, ref from inbox where cell_id = $1 and set_aside_at is null and "
                        + NAMES_WORKLOAD
                        + " and ref ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and not ref = any($3) order "
                        + "by id limit $2",
                cell,
                limit,
                toTexts(without)));
    }

    private static String[] toTexts(Set<UUID> workloads) {
        return workloads.stream().map(UUID::toString).toArray(String[]::new);
    }

    /** Parses the rows. Throws if a row's reference is unknown to this version. */
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
