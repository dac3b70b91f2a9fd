package io.quartermaster.dispatch;

import io.quartermaster.engine.PoolId;
import io.quartermaster.engine.Quota;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Scope;
import io.quartermaster.platform.SystemTransaction;
import io.quartermaster.platform.TenantId;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What one tenant's allotments and policies say: the nodes of its quota trees, where each policy lies in them, and what is reserved.
 *
 * @param paths by policy, retired ones included while their work runs
 */
record QuotaFacts(
        TenantId tenant, boolean suspended, Map<UUID, QuotaPath> paths, List<Quota> quotas, List<Level> levels) {

    /** What is reserved in a pool for the tenant (no policy) or for a policy. */
    record Level(UUID pool, @Nullable UUID policy, long gpuMilli) {}

    static List<QuotaFacts> read(SystemTransaction transaction, Collection<TenantId> tenants) {
        String[] ids = tenants.stream().map(TenantId::value).toArray(String[]::new);
        Map<TenantId, Gathering> byTenant = new TreeMap<>();
        for (Row row : transaction.run("select id, state from tenant where id = any($1)", (Object) ids)) {
            TenantId tenant = new TenantId(row.getString("id"));
            byTenant.put(tenant, new Gathering(tenant, !row.getString("state").equals("active")));
        }
        for (Row row : transaction.run("""
                select a.*, p.name as pool_name from allotment a join pool p on p.id = a.pool_id
                 where a.tenant_id = any($1) order by a.tenant_id, p.name
                """, (Object) ids)) {
            of(byTenant, row).allotment(row);
        }
        for (Row row : transaction.run(
                "select tenant_id, id, group_path, over_quota, retired_at is not null as retired from policy where tenant_id = any($1) order by group_path, id",
                (Object) ids)) {
            of(byTenant, row).policy(row);
        }
        for (Row row : transaction.run("""
                select q.*, p.name as pool_name from policy_quota q left join pool p on p.id = q.pool_id
                 where q.tenant_id = any($1) order by q.tenant_id, q.policy_id, p.name nulls first
                """, (Object) ids)) {
            of(byTenant, row).quota(row);
        }
        return byTenant.values().stream().map(Gathering::done).toList();
    }

    private static Gathering of(Map<TenantId, Gathering> byTenant, Row row) {
        Gathering found = byTenant.get(new TenantId(row.getString("tenant_id")));
        if (found == null) {
            throw new IllegalStateException("a row of a tenant that is not there: " + row.getString("tenant_id"));
        }
        return found;
    }

    private static final class Gathering {
        private final TenantId tenant;
        private final boolean suspended;
        private final Map<String, QuotaPath> byGroup = new TreeMap<>();
        private final Map<UUID, QuotaPath> paths = new TreeMap<>();
        private final Map<UUID, Boolean> overQuota = new TreeMap<>();
        private final Map<UUID, Boolean> retired = new TreeMap<>();
        private final List<Quota> quotas = new ArrayList<>();
        private final List<Level> levels = new ArrayList<>();

        Gathering(TenantId tenant, boolean suspended) {
            this.tenant = tenant;
            this.suspended = suspended;
        }

        void allotment(Row row) {
            quotas.add(quota(QuotaPath.of(tenant.value()), row, true, false));
            levels.add(new Level(row.getUUID("pool_id"), null, row.getLong("reserved_milli")));
        }

        /** Comes in order of the groups' paths, so the nearest ancestor with a policy is there before its descendants. */
        void policy(Row row) {
            UUID id = row.getUUID("id");
            String group = row.getString("group_path");
            QuotaPath path = below(group);
            // Where a policy was retired and made anew, both stand for the same place in the tree.
            paths.put(id, path);
            byGroup.put(group, path);
            overQuota.put(id, row.getBoolean("over_quota"));
            retired.put(id, row.getBoolean("retired"));
        }

        private QuotaPath below(String group) {
            String ancestor = group;
            while (ancestor.lastIndexOf('/') > 0) {
                ancestor = ancestor.substring(0, ancestor.lastIndexOf('/'));
                QuotaPath parent = byGroup.get(ancestor);
                if (parent != null) {
                    return child(parent, group.substring(ancestor.length() + 1));
                }
            }
            return child(QuotaPath.of(tenant.value()), group.substring(1));
        }

        private static QuotaPath child(QuotaPath parent, String name) {
            List<String> segments = new ArrayList<>(parent.segments());
            segments.add(name);
            return new QuotaPath(segments);
        }

        void quota(Row row) {
            UUID policy = row.getUUID("policy_id");
            QuotaPath path = paths.get(policy);
            if (path == null) {
                throw new IllegalStateException("a quota of a policy that is not there: " + policy);
            }
            boolean gone = Boolean.TRUE.equals(retired.get(policy));
            if (gone && quotas.stream().anyMatch(q -> q.path().equals(path))) {
                return;
            }
            quotas.add(quota(path, row, Boolean.TRUE.equals(overQuota.get(policy)), gone));
            UUID pool = row.getUUID("pool_id");
            if (pool != null) {
                levels.add(new Level(pool, policy, gone ? 0 : row.getLong("reserved_milli")));
            }
        }

        /** A retired policy reserves nothing: what still runs under it is over-quota. */
        private static Quota quota(QuotaPath path, Row row, boolean overQuota, boolean retired) {
            String pool = row.getString("pool_name");
            Integer weight = row.getInteger("weight");
            return new Quota(
                    path,
                    pool == null ? Scope.ALL_POOLS : Scope.of(new PoolId(pool)),
                    retired ? 0 : row.getLong("reserved_milli"),
                    optional(row.getLong("limit_milli")),
                    weight == null ? OptionalLong.empty() : OptionalLong.of(weight * 1000L),
                    retired ? OptionalLong.empty() : optional(row.getLong("lendable_milli")),
                    row.getInteger("rank"),
                    overQuota);
        }

        private static OptionalLong optional(@Nullable Long value) {
            return value == null ? OptionalLong.empty() : OptionalLong.of(value);
        }

        QuotaFacts done() {
            return new QuotaFacts(tenant, suspended, Map.copyOf(paths), List.copyOf(quotas), List.copyOf(levels));
        }
    }
}
