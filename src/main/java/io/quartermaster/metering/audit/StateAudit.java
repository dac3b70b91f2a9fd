package io.quartermaster.metering.audit;

import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that the metered work really runs. It finds attempts that are metered although their deadline has passed or
 * their end was reported; these bill their tenant for nothing. Quarantined work, and work on a node without contact,
 * are warnings.
 */
final class StateAudit {

    /** The longest time in which the leader must apply a report. */
    private static final int APPLIED_WITHIN_SECONDS = 60;

    /**
     * The agent ends the work by the deadline; it reports that within the lease, or loses the lease. Where no node runs
     * the work, the leader ends it.
     */
    private static final String OVERDUE = """
            with stopping as (
                select a.tenant_id, a.id, a.deadline_at,
                       max(c.lease_until - c.last_heard) as lease,
                       coalesce(bool_or(c.node_id is null or c.lost_at is not null
                           or c.lease_until < clock_timestamp()) filter (where d.node_id is not null), false) as silent,
                       min(c.last_heard) as last_heard,
                       coalesce(' on ' || string_agg(distinct n.name, ', ' order by n.name), '') as nodes
                  from attempt a
                  join allocation_device d on d.tenant_id = a.tenant_id and d.attempt_id = a.id and d.freed_at is null
                  left join node_contact c on c.node_id = d.node_id
                  left join node n on n.id = d.node_id
                 where a.tenant_id = $1 and a.state = 'stopping' group by a.tenant_id, a.id, a.deadline_at)
            select id::text as subject, floor(extract(epoch from deadline_at) * 1000)::bigint as at_ms,
                'stopped-by-its-deadline' as rule, silent,
                   case when silent then 'its nodes in contact' else 'ended by ' || (deadline_at + coalesce(lease,
                       interval '0'))::text end as expected,
                   case when silent then coalesce('a node silent for ' || floor(extract(epoch
                       from clock_timestamp() - last_heard))::bigint || ' seconds', 'a node that was never heard')
                       || ', stopping' || nodes
                        else 'stopping' || nodes end as found
              from stopping where deadline_at + coalesce(lease,
                  interval '0') + ($2::int * interval '1 second') < clock_timestamp()
             order by id limit 1000
            """;

    private static final String UNAPPLIED = """
            select a.id::text as subject, floor(extract(epoch from max(r.reported_at)) * 1000)::bigint as at_ms,
                'reported-end-is-applied' as rule, false as silent,
                   'ended' as expected,
                   a.state || ' on ' || string_agg(distinct n.name, ', ' order by n.name) as found
              from attempt a
              join allocation_device d on d.tenant_id = a.tenant_id and d.attempt_id = a.id
                  and d.freed_at is null and d.node_id is not null
              join node n on n.id = d.node_id
              left join report r on r.tenant_id = a.tenant_id and r.attempt_id = a.id and r.node_id = d.node_id
                  and r.state = 'ended'
             where a.tenant_id = $1 and a.state <> 'ended'
             group by a.tenant_id, a.id, a.state
            having count(*) = count(r.node_id) and max(r.reported_at) + ($2::int * interval '1 second') < clock_timestamp()
             order by a.id limit 1000
            """;

    private static final String QUARANTINED = """
            select 'workload ' || id as subject, floor(extract(epoch from set_aside_at) * 1000)::bigint as at_ms,
                'planned-with' as rule, true as silent,
                   'planned with' as expected, 'set aside: ' || set_aside_why as found
              from workload where tenant_id = $1 and set_aside_at is not null
            union all
            select 'tenant ' || id, floor(extract(epoch from set_aside_at) * 1000)::bigint, 'planned-with', true,
                'planned with', 'set aside: ' || set_aside_why
              from tenant where id = $1 and set_aside_at is not null
            union all
            select 'inbox row ' || id || ' (' || kind || ' ' || ref || ')', floor(extract(epoch
                from set_aside_at) * 1000)::bigint, 'planned-with', true,
                   'planned with', 'set aside: ' || set_aside_why
              from inbox where tenant_id = $1 and set_aside_at is not null
            order by subject limit 1000
            """;

    /** The findings: violations, and warnings for an operator. */
    record Findings(List<AuditApi.Violation> violations, List<AuditApi.Violation> warnings) {}

    private StateAudit() {}

    static Findings auditTenant(SystemTransaction transaction, String tenant) {
        Findings findings = new Findings(new ArrayList<>(), new ArrayList<>());
        for (String sql : List.of(OVERDUE, UNAPPLIED)) {
            transaction.run(sql, tenant, APPLIED_WITHIN_SECONDS).forEach(row -> addFinding(findings, tenant, row));
        }
        transaction.run(QUARANTINED, tenant).forEach(row -> addFinding(findings, tenant, row));
        return findings;
    }

    private static void addFinding(Findings findings, String tenant, Row row) {
        Long at = row.getLong("at_ms");
        var found = new AuditApi.Violation(
                tenant,
                row.getString("rule"),
                row.getString("subject"),
                at == null ? null : Instant.ofEpochMilli(at),
                row.getString("expected"),
                row.getString("found"));
        (row.getBoolean("silent") ? findings.warnings() : findings.violations()).add(found);
    }
}
