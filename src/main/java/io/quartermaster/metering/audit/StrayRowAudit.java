package io.quartermaster.metering.audit;

import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds rows of closed usage that belong to no closed hour, or to no tenant. The other checks go through the tenants
 * and their closed hours, so they do not see such rows. Triggers refuse them, unless the owner disables the triggers.
 *
 * <p>The statements go from one hour, or tenant, to the next by an index. So they cost as much as there are hours, and
 * not rows.
 */
final class StrayRowAudit {

    private static final List<String> TABLES = List.of("segment", "usage_hour", "usage_label_hour");

    private static final String HOURS = """
            with recursive hours (hour_ms) as (
                (select hour_ms from %1$s where tenant_id = $1 and hour_ms > $2 and hour_ms <= $3
                  order by hour_ms limit 1)
                union all
                select (select t.hour_ms from %1$s t
                         where t.tenant_id = $1 and t.hour_ms > h.hour_ms and t.hour_ms <= $3
                         order by t.hour_ms limit 1)
                  from hours h where h.hour_ms is not null)
            select hour_ms from hours
             where hour_ms is not null
               and not exists (select 1 from closed_hour c where c.tenant_id = $1 and c.hour_ms = hours.hour_ms)
             order by hour_ms limit $4
            """;

    private static final String TENANTS = """
            with recursive tenants (id) as (
                (select tenant_id from %1$s order by tenant_id limit 1)
                union all
                select (select t.tenant_id from %1$s t where t.tenant_id > tenants.id order by t.tenant_id limit 1)
                  from tenants where id is not null)
            select id from tenants
             where id is not null and not exists (select 1 from tenant t where t.id = tenants.id)
             order by id limit $1
            """;

    private StrayRowAudit() {}

    /** The hours of a tenant that have rows, and are not closed. */
    static List<AuditApi.Violation> ofTenant(
            SystemTransaction tx, String tenant, long fromMillis, long toMillis, int limit) {
        List<AuditApi.Violation> found = new ArrayList<>();
        for (String table : TABLES) {
            for (Row row : tx.run(HOURS.formatted(table), tenant, fromMillis, toMillis, (long) limit)) {
                found.add(violation(
                        tenant,
                        "rows-are-of-closed-hours",
                        table,
                        Instant.ofEpochMilli(row.getLong("hour_ms")),
                        "a closed hour",
                        "an hour that is not closed"));
            }
        }
        return found;
    }

    /** The tenants that have rows, and do not exist. */
    static List<AuditApi.Violation> ofNoTenant(SystemTransaction tx, int limit) {
        List<AuditApi.Violation> found = new ArrayList<>();
        for (String table : TABLES) {
            for (Row row : tx.run(TENANTS.formatted(table), (long) limit)) {
                found.add(
                        violation(null, "rows-are-of-tenants", table, null, "the id of a tenant", row.getString("id")));
            }
        }
        return found;
    }

    private static AuditApi.Violation violation(
            @Nullable String tenant, String rule, String table, @Nullable Instant at, String expected, String found) {
        return new AuditApi.Violation(tenant, rule, table, at, expected, found);
    }
}
