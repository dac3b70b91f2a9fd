package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.read.QuotaFacts;
import io.quartermaster.dispatch.read.QuotaFacts.Level;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The reserved amounts that the ledger received last, so that a plan writes an event only when one changes. A
 * reservation that no longer exists is written as 0.
 */
public final class ReservedLevels {

    private record Key(TenantId tenant, UUID pool, @Nullable UUID policy) {}

    private final Map<Key, Long> published = new HashMap<>();

    public void load(SystemTransaction transaction) {
        for (Row row : transaction.run("""
                select distinct on (tenant_id, kind, pool_id, policy_id) tenant_id, pool_id, policy_id,
                    gpu_milli from usage_event
                 where kind in ('tenant-reserved', 'policy-reserved') order by tenant_id, kind, pool_id, policy_id,
                     seq desc
                """)) {
            Key key =
                    new Key(new TenantId(row.getString("tenant_id")), row.getUUID("pool_id"), row.getUUID("policy_id"));
            published.put(key, row.getLong("gpu_milli"));
        }
    }

    public void publish(List<QuotaFacts> facts, PlanRows rows) {
        for (QuotaFacts fact : facts) {
            Set<Key> now = new HashSet<>();
            for (Level level : fact.levels()) {
                Key key = new Key(fact.tenant(), level.pool(), level.policy());
                now.add(key);
                publishLevel(key, level.gpuMilli(), rows);
            }
            List<Key> gone = published.keySet().stream()
                    .filter(key -> key.tenant().equals(fact.tenant()) && !now.contains(key))
                    .toList();
            gone.forEach(key -> publishLevel(key, 0, rows));
        }
    }

    private void publishLevel(Key key, long gpuMilli, PlanRows rows) {
        Long before = published.put(key, gpuMilli);
        if (before == null ? gpuMilli == 0 : before == gpuMilli) {
            return;
        }
        JsonObject event = new JsonObject().put("gpu_milli", gpuMilli);
        if (key.policy() != null) {
            event.put("policy_id", key.policy().toString());
        }
        rows.addUsageEvent(
                key.tenant(), key.policy() == null ? "tenant-reserved" : "policy-reserved", key.pool(), event);
    }
}
