package io.quartermaster.metering.audit;

import io.quartermaster.metering.UsageWindow;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Compares the metered usage with the executed work: attempts and the devices they hold against the events of their
 * allocations. Each check is one statement, hence one snapshot, so concurrent commits of a leader do not affect it.
 */
final class AllocationAudit {

    /** Attempts that held GPUs in the window, and whose events are wrong. */
    private static final String ATTEMPTS = """
            with metered as (
                select allocation_id as id, count(*) filter (where kind = 'allocated') as allocated,
                    count(*) filter (where kind = 'freed') as freed,
                       min(at_ms) filter (where kind = 'allocated') as from_ms,
                           max(at_ms) filter (where kind = 'freed') as to_ms,
                       min(gpu_milli) filter (where kind = 'allocated') as gpu_milli,
                       min(cast(pool_id as text)) as pool_id,
                       max(since_ms) filter (where phase = 'ended') as work_ended_ms
                  from usage_event where tenant_id = $1 and (kind in ('allocated', 'freed')
                      or phase = 'ended') group by allocation_id),
            held as (
                select id, gpu_milli, cast(pool_id as text) as pool_id, floor(extract(epoch
                    from bound_at) * 1000)::bigint as from_ms,
                       floor(extract(epoch from ended_at) * 1000)::bigint as to_ms,
                       (select floor(extract(epoch from max(r.work_ended_at)) * 1000)::bigint from report r
                         where r.tenant_id = attempt.tenant_id and r.attempt_id = attempt.id) as told_ms
                  from attempt where tenant_id = $1 and gpu_milli > 0),
            both_sides as (
                select coalesce(h.id, m.id) as id, h.id is not null as is_attempt, coalesce(m.allocated, 0)
                    as allocated, coalesce(m.freed, 0) as freed,
                       h.from_ms as held_from, h.to_ms as held_to, m.from_ms, m.to_ms, h.gpu_milli as held_milli,
                           m.gpu_milli,
                       h.pool_id as held_pool, m.pool_id, h.told_ms, m.work_ended_ms
                  from held h full join metered m on m.id = h.id
                 where coalesce(h.from_ms, m.from_ms, m.to_ms) < $3 and coalesce(h.to_ms, m.to_ms, $2) >= $2),
            found as (
                select id, coalesce(held_from, from_ms, to_ms) as at_ms, rule, expected, found
                    from both_sides cross join lateral (values
                    ('allocation-has-attempt', not is_attempt, '1', '0'),
                    ('allocated-once', is_attempt and allocated <> 1, '1', allocated::text),
                    ('freed-when-ended', is_attempt and freed <> case when held_to is null then 0 else 1 end,
                        case when held_to is null then '0' else '1' end, freed::text),
                    ('allocated-when-bound', is_attempt and from_ms <> held_from, held_from::text, from_ms::text),
                    ('freed-at-the-end', is_attempt and to_ms <> held_to, held_to::text, to_ms::text),
                    ('amount-of-attempt', is_attempt and gpu_milli <> held_milli, held_milli::text, gpu_milli::text),
                    ('work-ended-when-told', is_attempt and work_ended_ms is not null
                            and (told_ms is null or work_ended_ms not in (told_ms, from_ms)), coalesce(told_ms::text,
                                'not told'), work_ended_ms::text),
                    ('pool-of-attempt', is_attempt and pool_id <> held_pool, held_pool, pool_id)
                ) as checks (rule, broken, expected, found) where broken)
            select id::text as subject, at_ms, rule, expected, found from found order by at_ms, id, rule limit 1000
            """;

    /** Devices are freed together with their attempt, neither before nor after. */
    private static final String DEVICES = """
            select a.id::text as subject, floor(extract(epoch from a.bound_at) * 1000)::bigint as at_ms,
                'devices-freed-with-attempt' as rule,
                   coalesce(a.ended_at::text, 'held') as expected, coalesce(d.freed_at::text, 'held') as found
              from attempt a join allocation_device d on d.tenant_id = a.tenant_id and d.attempt_id = a.id
             where a.tenant_id = $1 and d.freed_at is distinct from a.ended_at
               and coalesce(a.ended_at, 'infinity') >= to_timestamp($2::bigint / 1000.0)
                   and a.bound_at < to_timestamp($3::bigint / 1000.0)
             order by a.id limit 1000
            """;

    /** The parts of a device that are allocated never exceed the device. */
    private static final String FULL_DEVICES = """
            select n.name || ' device ' || d.device_index as subject, null::bigint as at_ms,
                'device-given-out-once' as rule,
                   '1000' as expected, sum(d.gpu_milli)::text as found
              from allocation_device d join node n on n.id = d.node_id
             where d.freed_at is null and d.device_index is not null
             group by n.name, d.node_id, d.device_index having sum(d.gpu_milli) > 1000 order by 1 limit 1000
            """;

    private AllocationAudit() {}

    static List<AuditApi.Violation> auditTenant(SystemTransaction transaction, String tenant, UsageWindow usageWindow) {
        List<AuditApi.Violation> violations = new ArrayList<>();
        for (String sql : List.of(ATTEMPTS, DEVICES)) {
            for (Row row : transaction.run(sql, tenant, usageWindow.fromMillis(), usageWindow.toMillis())) {
                violations.add(violation(tenant, row));
            }
        }
        return violations;
    }

    static List<AuditApi.Violation> auditDevices(SystemTransaction transaction) {
        List<AuditApi.Violation> violations = new ArrayList<>();
        transaction.run(FULL_DEVICES).forEach(row -> violations.add(violation(null, row)));
        return violations;
    }

    private static AuditApi.Violation violation(@Nullable String tenant, Row row) {
        @Nullable Long at = row.getLong("at_ms");
        return new AuditApi.Violation(
                tenant,
                row.getString("rule"),
                row.getString("subject"),
                at == null ? null : Instant.ofEpochMilli(at),
                row.getString("expected"),
                row.getString("found"));
    }
}
