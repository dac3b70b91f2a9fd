package io.quartermaster.insight.fleet;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the fleet in the system role. PostgreSQL assembles each item as one JSON document. */
@ApplicationScoped
class FleetStore {

    private static final String HOLDER = """
            json_strip_nulls(json_build_object('tenant', d.tenant_id, 'workload', w.id, 'name', w.name,
                'group', p.group_path, 'attempt', a.number, 'worker', coalesce(a.worker, d.worker),
                'gpus', cast(trim_scale(d.gpu_milli / 1000.0) as text), 'mig', d.mig, 'state', a.state,
                'preemptible', w.preemptible, 'boundAt', a.bound_at))
            """;

    private static final String HELD = """
            allocation_device d
              join attempt a on a.tenant_id = d.tenant_id and a.id = d.attempt_id
              join workload w on w.tenant_id = a.tenant_id and w.id = a.workload_id
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
             where d.node_id = n.id and d.freed_at is null
            """;

    private static final String NODES = """
            select cast(json_build_object('node', n.name, 'cluster', k.name, 'pool', l.name,
                       'schedulable', n.schedulable,
                       'up', coalesce(c.lost_at is null and c.lease_until > clock_timestamp(), false),
                       'gpus', (select coalesce(json_agg(json_build_object('index', g.device_index, 'model', g.model,
                               'memoryMiB', g.memory_mib, 'mig', g.mig, 'healthy', g.healthy,
                               'free', cast(trim_scale(greatest(0, 1000 - coalesce(h.milli, 0)) / 1000.0) as text),
                               'holders', coalesce(h.holders, '[]')) order by g.device_index), '[]')
                             from gpu g
                             left join lateral (select sum(d.gpu_milli) as milli,
                                     json_agg(%1$s order by a.bound_at, a.id) as holders
                                 from %2$s and d.device_index = g.device_index) h on true
                            where g.node_id = n.id),
                       'withoutGpu', (select coalesce(json_agg(%1$s order by a.bound_at, a.id), '[]')
                             from %2$s and d.device_index is null)) as text)
              from node n join cluster k on k.id = n.cluster_id join pool l on l.id = n.pool_id
              left join node_contact c on c.node_id = n.id
             where n.retired_at is null and n.name > $1 and ($2::text is null or l.name = $2)
               and ($3::text is null or k.name = $3)
               and ($4::text is null or exists (select 1 from allocation_device d
                   where d.node_id = n.id and d.freed_at is null and d.tenant_id = $4))
             order by n.name limit $5
            """.formatted(HOLDER, HELD);

    private static final String IS_LIVE = "w.state not in ('succeeded', 'failed', 'cancelled')";

    /** Picks the ids first, so that the rows beside a workload are read for the page alone. */
    private static final String WORKLOADS = """
            with page as materialized (
                select w.id from workload w
                 where ($1::uuid is null or w.id < $1) and ($2::text is null or w.tenant_id = $2)
                   and ($3::text[] is null or w.state = any($3)) and ($4::text[] is null or w.reason_code = any($4))
                   and ($5::text is null or case when w.state in ('held', 'waiting', 'paused') then exists (
                           select 1 from profile f join pool l on l.id = any(f.pool_ids)
                            where f.tenant_id = w.tenant_id and f.id = w.profile_id and l.name = $5)
                       else (select l.name from attempt a join pool l on l.id = a.pool_id
                              where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.worker is null
                              order by a.number desc limit 1) = $5 end)
                   %s
                 order by w.id desc limit $6)
            select cast(json_strip_nulls(json_build_object('id', w.id, 'tenant', w.tenant_id, 'name', w.name,
                       'type', w.type, 'queue', q.name, 'group', p.group_path, 'submittedBy', w.submitted_by,
                       'pool', coalesce((select l.name from attempt a join pool l on l.id = a.pool_id
                               where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended'
                                 and a.worker is null),
                           case when %s then (select l.name from pool l where l.id = f.pool_ids[1]) end),
                       'heldGpus', (select cast(trim_scale(sum(a.gpu_milli) / 1000.0) as text) from attempt a
                           where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended'),
                       'priority', w.priority, 'preemptible', w.preemptible, 'state', w.state,
                       'reason', w.reason_code, 'attempts', w.attempts, 'submittedAt', w.submitted_at,
                       'startedAt', w.started_at, 'endedAt', w.ended_at, 'endReason', w.end_reason)) as text)
              from workload w
              join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
              join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
             where w.id in (select id from page) order by w.id desc
            """;

    private static final String WAITING = """
            with waits as (
                select w.tenant_id, case when w.state = 'held' then null else w.reason_code end as reason,
                       w.submitted_at
                  from workload w
                 where %s and w.state in ('held', 'waiting', 'paused') and ($1::text is null or w.tenant_id = $1)
                   and ($2::text is null or exists (
                           select 1 from profile f join pool l on l.id = any(f.pool_ids)
                            where f.tenant_id = w.tenant_id and f.id = w.profile_id and l.name = $2))),
            by_tenant as (
                select reason, tenant_id, count(*) as workloads, min(submitted_at) as oldest from waits group by 1, 2)
            select cast(json_strip_nulls(json_build_object('reason', t.reason, 'workloads', sum(t.workloads),
                       'oldestSubmittedAt', min(t.oldest),
                       'tenants', (select json_agg(json_build_object('tenant', m.tenant_id, 'workloads', m.workloads)
                                   order by m.workloads desc, m.tenant_id)
                             from (select b.tenant_id, b.workloads from by_tenant b
                                    where b.reason is not distinct from t.reason
                                    order by b.workloads desc, b.tenant_id limit 10) m))) as text)
              from by_tenant t group by t.reason order by sum(t.workloads) desc, t.reason nulls last
            """.formatted(IS_LIVE);

    private final SystemDatabase database;
    private final ObjectMapper json;

    FleetStore(SystemDatabase database, ObjectMapper json) {
        this.database = database;
        this.json = json;
    }

    /** The filter of the nodes; null does not filter. */
    record NodeFilter(
            @Nullable String pool,
            @Nullable String cluster,
            @Nullable String tenant) {}

    /** The filter of the workloads; null and empty lists do not filter. */
    record WorkloadFilter(
            @Nullable String tenant,
            List<String> states,
            List<String> reasons,
            @Nullable String pool) {

        private static final List<String> OVER = List.of("succeeded", "failed", "cancelled");

        boolean isOfLive() {
            return !reasons.isEmpty() || !states.isEmpty() && states.stream().noneMatch(OVER::contains);
        }
    }

    Uni<List<FleetApi.Node>> nodes(NodeFilter filter, String after, int max) {
        return database.on(connection -> connection
                        .preparedQuery(NODES)
                        .execute(Tuple.of(after, filter.pool(), filter.cluster(), filter.tenant(), max)))
                .map(rows -> read(rows, FleetApi.Node.class));
    }

    Uni<List<FleetApi.Workload>> workloads(WorkloadFilter filter, Optional<UUID> after, int max) {
        String live = filter.isOfLive() ? " and " + IS_LIVE : "";
        return database.on(connection -> connection
                        .preparedQuery(WORKLOADS.formatted(live, IS_LIVE))
                        .execute(Tuple.from(new @Nullable Object[] {
                            after.orElse(null),
                            filter.tenant(),
                            array(filter.states()),
                            array(filter.reasons()),
                            filter.pool(),
                            max
                        })))
                .map(rows -> read(rows, FleetApi.Workload.class));
    }

    Uni<List<FleetApi.Waiting>> waiting(@Nullable String tenant, @Nullable String pool) {
        return database.on(connection -> connection.preparedQuery(WAITING).execute(Tuple.of(tenant, pool)))
                .map(rows -> read(rows, FleetApi.Waiting.class));
    }

    private static String @Nullable [] array(List<String> words) {
        return words.isEmpty() ? null : words.toArray(String[]::new);
    }

    private <T> List<T> read(RowSet<Row> rows, Class<T> type) {
        List<T> found = new ArrayList<>();
        for (Row row : rows) {
            try {
                found.add(json.readValue(row.getString(0), type));
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("could not read a " + type.getSimpleName(), e);
            }
        }
        return found;
    }
}
