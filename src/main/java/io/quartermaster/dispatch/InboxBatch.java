package io.quartermaster.dispatch;

import io.quartermaster.platform.Inbox;
import io.quartermaster.platform.SystemTransaction;
import io.quartermaster.platform.TenantId;
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

    static InboxBatch take(SystemTransaction transaction, String cell, Suspicion.Take take) {
        return switch (take) {
            case Suspicion.Take.Oldest(int limit, boolean leftovers) ->
                of(transaction.run("""
                        select id, tenant_id, kind, ref from (
                            select id, tenant_id, kind, ref, row_number() over (partition by tenant_id order by id) as turn
                              from (select * from inbox where cell_id = $1 and set_aside_at is null order by id limit $3) oldest) turns
                         order by turn, id limit $2
                        """, cell, limit, limit * 10));
            case Suspicion.Take.Nothing() -> of(List.of());
            case Suspicion.Take.Only(long id) ->
                of(transaction.run(
                        "select id, tenant_id, kind, ref from inbox where cell_id = $1 and id = $2 and set_aside_at is null",
                        cell,
                        id));
        };
    }

    private static InboxBatch of(Iterable<Row> rows) {
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
