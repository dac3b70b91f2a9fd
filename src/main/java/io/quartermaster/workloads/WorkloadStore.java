package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Reads workloads and writes desired states, in a transaction of the request role. PostgreSQL assembles each result as
 * one JSON document, so a workload with all its parts is one statement.
 */
@ApplicationScoped
public class WorkloadStore {

    private static final String VIEW = """
            select w.id, w.name, w.type, q.name as queue, p.name as policy, p.group_path as "group", f.name as profile,
                   w.submitted_by as "submittedBy", cast(trim_scale(case when f.gpu_memory_mib is null
                       then asked_gpu_milli(w.gpus, f.gpu_milli, f.max_gpus) * f.workers else
                       (select a.gpu_milli from attempt a where a.tenant_id = w.tenant_id
                           and a.workload_id = w.id and a.worker is null
                         order by a.number desc limit 1) end / 1000.0) as text) as gpus,
                   (select cast(trim_scale(sum(a.gpu_milli) / 1000.0) as text) from attempt a
                     where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended') as "heldGpus",
                         cast(w.min_gpus as text) as "minGpus", w.priority, w.preemptible,
                   w.dedicated_only as "dedicatedOnly", 'PT' || trim_scale(w.max_runtime_ms / 1000.0) || 'S'
                       as "maxRuntime", w.labels, w.state, w.wish,
                   w.version, w.reason_code as reason, w.attempts, w.submitted_at as "submittedAt", w.started_at as "startedAt",
                       w.ended_at as "endedAt",
                   w.end_reason as "endReason", case when w.state = 'paused' then w.paused_until end as "pausedUntil"
              from workload w
              join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
              join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
             where w.tenant_id = :tenant
            """;

    private static final String DETAILS = """
            select cast(json_build_object(
                'workload', (select row_to_json(v) from (%s and w.id = :id) v),
                'command', w.command, 'environment', w.environment, 'abortCallback', w.abort_callback, 'reasons',
                    coalesce(w.reason, '[]'), 'reasonsAt', w.reason_at,
                'attempts', (select coalesce(json_agg(a order by a.number), '[]') from (
                    select a.id, a.number, a.state, a.outcome, l.name as pool,
                        cast(trim_scale(a.gpu_milli / 1000.0) as text) as gpus,
                           a.bound_at as "boundAt", a.started_at as "startedAt", a.stopping_at as "stoppingAt",
                               a.stop_reason as "stopReason",
                           a.deadline_at as deadline, a.ended_at as "endedAt", a.exit_code as "exitCode", a.message
                      from attempt a join pool l on l.id = a.pool_id
                     where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.worker is null) a),
                'surplusWorkers', (select coalesce(json_agg(s order by s."attempt", s.worker, s."boundAt"), '[]') from (
                    select a.id, a.number as attempt, a.worker, a.state, a.outcome, l.name as pool,
                           cast(trim_scale(a.gpu_milli / 1000.0) as text) as gpus, a.bound_at as "boundAt",
                               a.started_at as "startedAt",
                           a.stopping_at as "stoppingAt", a.stop_reason as "stopReason", a.ended_at as "endedAt",
                               a.exit_code as "exitCode",
                           a.message
                      from attempt a join pool l on l.id = a.pool_id
                     where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.worker is not null
                     order by a.bound_at desc limit 1000) s),
                'nomination', (select json_build_object('pool', l.name, 'since', n.nominated_at)
                      from nomination n join pool l on l.id = n.pool_id where n.tenant_id = w.tenant_id
                          and n.workload_id = w.id),
                'preemptions', (select coalesce(json_agg(x order by x.at), '[]') from (
                    select e.at, a.number as attempt, e.cause, e.for_workload as "forWorkload", e.receipt
                      from preemption e join attempt a on a.tenant_id = e.tenant_id and a.id = e.attempt_id
                     where e.tenant_id = w.tenant_id and e.workload_id = w.id) x)) as text)
              from workload w where w.tenant_id = :tenant and w.id = :id
            """.formatted(VIEW);

    private static final String POSITION = """
            select cast(json_build_object(
                       'aheadInQueue', count(*) filter (where o.queue_id = w.queue_id and o.ahead),
                       'aheadInGroup', count(*) filter (where o.ahead),
                       'waitingInQueue', count(*) filter (where o.queue_id = w.queue_id)) as text)
              from workload w
              join lateral (
                  select o.queue_id, o.priority > w.priority or o.priority = w.priority
                         and (o.at_head_since is null, o.place is null, coalesce(o.place, 0), o.seq)
                             < (w.at_head_since is null, w.place is null, coalesce(w.place, 0), w.seq) as ahead
                    from workload o
                   where o.tenant_id = w.tenant_id and o.policy_id = w.policy_id and o.state in ('waiting',
                       'paused') and (o.wish = 'run' or o.id = w.id)
                     and o.queue_id in (select q.id from queue q where q.tenant_id = w.tenant_id
                         and q.policy_id = w.policy_id)) o on true
             where w.tenant_id = :tenant and w.id = :id
            """;

    private final ObjectMapper json;

    WorkloadStore(ObjectMapper json) {
        this.json = json;
    }

    /**
     * Reads the workloads of one page of a list.
     *
     * @param page a query for the ids of the page
     * @param orderBy the order of the page, by columns of {@code workload w}
     * @param parameters those of the query, beside {@code :tenant}
     */
    public Uni<List<WorkloadApi.View>> views(
            Mutiny.Session session, TenantId tenant, String page, String orderBy, Map<String, Object> parameters) {
        // The ids first: the rows beside a workload are read for the page alone.
        Mutiny.SelectionQuery<String> query = session.createNativeQuery(
                "with page as materialized (" + page + ") select cast(row_to_json(v) as text) from (" + VIEW
                        + " and w.id in (select id from page)" + orderBy + ") v",
                String.class);
        parameters.forEach(query::setParameter);
        return query.setParameter("tenant", tenant.value()).getResultList().map(rows -> rows.stream()
                .map(row -> read(row, WorkloadApi.View.class))
                .toList());
    }

    /** Null if the workload does not exist. */
    Uni<WorkloadApi.@Nullable View> view(Mutiny.Session session, TenantId tenant, UUID id) {
        return queryOne(
                session,
                "select cast(row_to_json(v) as text) from (" + VIEW + " and w.id = :id) v",
                tenant,
                id,
                WorkloadApi.View.class);
    }

    /** Null if the workload does not exist. */
    Uni<WorkloadApi.@Nullable Details> details(Mutiny.Session session, TenantId tenant, UUID id) {
        return queryOne(session, DETAILS, tenant, id, WorkloadApi.Details.class)
                .map(details -> details == null ? null : details.seenBy(tenant));
    }

    /**
     * A workload as it could be submitted again.
     *
     * @param spec the fields of its submission
     * @param environmentRemoved whether its environment was emptied after its end, or may have been
     */
    record Source(ObjectNode spec, WorkloadApi.View view, boolean environmentRemoved) {}

    private static final String SOURCE = """
            select cast(json_build_object('view', (select row_to_json(v) from (%s and w.id = :id) v),
                'environmentRemoved', coalesce(w.environment = '{}'
                    and w.environment_removed_at >= w.ended_at, false),
                'spec', json_strip_nulls(json_build_object('queue', q.name, 'name', w.name, 'type', w.type,
                    'command', w.command, 'environment', w.environment, 'abortCallback', w.abort_callback,
                    'priority', w.priority, 'preemptible', w.preemptible, 'dedicatedOnly', w.dedicated_only,
                    'gpus', cast(w.gpus as text), 'minGpus', cast(w.min_gpus as text),
                    'maxRuntime', 'PT' || trim_scale(w.max_runtime_ms / 1000.0) || 'S', 'labels', w.labels))) as text)
              from workload w join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
             where w.tenant_id = :tenant and w.id = :id
            """.formatted(VIEW);

    /** Null if the workload does not exist. */
    Uni<@Nullable Source> source(Mutiny.Session session, TenantId tenant, UUID id) {
        return queryOne(session, SOURCE, tenant, id, Source.class);
    }

    /** The subject of the token that submitted it; null if unknown. */
    Uni<@Nullable String> submitter(Mutiny.Session session, TenantId tenant, UUID id) {
        return session.createNativeQuery(
                        "select submitter from workload where tenant_id = :tenant and id = :id", String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .getSingleResultOrNull();
    }

    Uni<WorkloadApi.@Nullable Position> position(Mutiny.Session session, TenantId tenant, UUID id) {
        return queryOne(session, POSITION, tenant, id, WorkloadApi.Position.class);
    }

    /** The workloads among these that belong to the tenant. */
    Uni<Map<UUID, WorkloadApi.Holder>> holders(Mutiny.Session session, TenantId tenant, List<UUID> ids) {
        if (ids.isEmpty()) {
            return Uni.createFrom().item(Map.of());
        }
        return session.createNativeQuery("""
                        select cast(json_build_object('id', w.id, 'name', w.name, 'queue', q.name, 'submittedBy',
                            w.submitted_by) as text)
                          from workload w join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
                         where w.tenant_id = :tenant and w.id in (:ids)
                        """, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("ids", ids)
                .getResultList()
                .map(rows -> rows.stream()
                        .map(row -> read(row, WorkloadApi.Holder.class))
                        .collect(Collectors.toMap(WorkloadApi.Holder::id, holder -> holder)));
    }

    /** The names of the policies of these groups, by group; a group without a policy is absent. */
    Uni<Map<String, String>> policies(Mutiny.Session session, TenantId tenant, List<String> groups) {
        if (groups.isEmpty()) {
            return Uni.createFrom().item(Map.of());
        }
        return session.createNativeQuery(
                        "select group_path, name from policy where tenant_id = :tenant and retired_at is null and "
                                + "group_path in (:groups)",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("groups", groups)
                .getResultList()
                .map(rows -> rows.stream().collect(Collectors.toMap(row -> (String) row[0], row -> (String) row[1])));
    }

    /** The rule by which the newest attempt holds its devices; null if there is no attempt. */
    Uni<@Nullable String> rule(Mutiny.Session session, TenantId tenant, UUID id) {
        return session.createNativeQuery(
                        "select rule from attempt where tenant_id = :tenant and workload_id = :id and worker is "
                                + "null order by number desc limit 1",
                        String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .getSingleResultOrNull();
    }

    /**
     * Writes the desired state and notifies the leader. If the workload is over or being cancelled, it changes nothing
     * and returns false.
     */
    Uni<Boolean> updateDesiredState(Mutiny.Session session, TenantId tenant, UUID id, DesiredState desiredState) {
        return session.createNativeQuery("""
                        with wished as (
                            update workload set wish = :wish where tenant_id = :tenant and id = :id and wish <> 'cancel'
                               and state not in ('succeeded', 'failed', 'cancelled') returning id),
                        told as (insert into inbox (tenant_id, kind, ref) select :tenant, 'workload', cast(id
                            as text) from wished)
                        select count(*) from wished
                        """, Long.class)
                .setParameter("wish", desiredState.word())
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .getSingleResult()
                .map(changed -> changed == 1);
    }

    /**
     * Changes a waiting workload and notifies the leader. Changes nothing and returns false if the workload has
     * another version, does not wait any more, or if the queue has other terms than these.
     */
    Uni<Boolean> change(
            Mutiny.Session session, TenantId tenant, UUID id, long version, QueueTerms queue, WorkloadApi.Patch after) {
        return session.createNativeQuery("""
                        with target as (
                            select q.id, q.policy_id, q.profile_id
                              from queue q
                              join policy p on p.tenant_id = q.tenant_id and p.id = q.policy_id
                                  and p.version = :policyVersion
                              join profile f on f.tenant_id = q.tenant_id and f.id = q.profile_id
                                  and f.version = :profileVersion
                             where q.tenant_id = :tenant and q.id = :queue and q.version = :queueVersion
                               and q.rules_version = :rulesVersion and q.retired_at is null
                               for share of q),
                        changed as (
                            update workload w set queue_id = t.id, policy_id = t.policy_id, profile_id = t.profile_id,
                                   place = case when w.queue_id = t.id then w.place end,
                                   at_head_since = case when w.queue_id = t.id and w.priority = :priority
                                       then w.at_head_since end, priority = :priority,
                                   max_runtime_ms = cast(cast(:maxRuntime as text) as bigint),
                                   labels = cast(cast(:labels as text) as jsonb), version = w.version + 1
                              from target t
                             where w.tenant_id = :tenant and w.id = :id and w.version = :version
                               and w.state in ('held', 'waiting', 'paused') and w.wish <> 'cancel'
                            returning w.id),
                        told as (insert into inbox (tenant_id, kind, ref)
                            select :tenant, 'workload', cast(id as text) from changed)
                        select count(*) from changed
                        """, Long.class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .setParameter("version", version)
                .setParameter("queue", queue.id())
                .setParameter("queueVersion", queue.versions().queue())
                .setParameter("rulesVersion", queue.versions().rules())
                .setParameter("policyVersion", queue.versions().policy())
                .setParameter("profileVersion", queue.versions().profile())
                .setParameter("priority", after.priority())
                .setParameter(
                        "maxRuntime",
                        after.maxRuntime() == null
                                ? null
                                : String.valueOf(after.maxRuntime().toMillis()))
                .setParameter("labels", write(after.labels()))
                .getSingleResult()
                .map(changed -> changed == 1);
    }

    /**
     * Sets an earlier deadline for a cancelled workload. Returns false if nothing changes, because the workload is over
     * or has an earlier deadline.
     */
    Uni<Boolean> stopWithin(Mutiny.Session session, TenantId tenant, UUID id, Duration grace) {
        return session.createNativeQuery("""
                        with sooner as (
                            update workload set stop_by = clock_timestamp() + cast(:grace
                                as bigint) * interval '1 millisecond'
                             where tenant_id = :tenant and id = :id and wish = 'cancel'
                                 and state not in ('succeeded', 'failed', 'cancelled')
                               and (stop_by is null or stop_by > clock_timestamp() + cast(:grace
                                   as bigint) * interval '1 millisecond')
                               and not exists (
                                   select 1 from attempt a where a.tenant_id = :tenant and a.workload_id = :id
                                       and a.worker is null
                                      and a.state = 'stopping' and a.deadline_at <= clock_timestamp() + cast(:grace as bigint) * interval '1 millisecond')
                            returning id),
                        told as (insert into inbox (tenant_id, kind, ref) select :tenant, 'workload', cast(id
                            as text) from sooner)
                        select count(*) from sooner
                        """, Long.class)
                .setParameter("grace", grace.toMillis())
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .getSingleResult()
                .map(changed -> changed == 1);
    }

    /** The last characters of an attempt's output, per node; empty while no node has reported any. */
    Uni<List<String>> logTails(Mutiny.Session session, TenantId tenant, UUID attempt, int chars) {
        return session.createNativeQuery("""
                        select right(log_tail, :chars) from report
                         where tenant_id = :tenant and attempt_id = :attempt and log_tail is not null order by node_id
                        """, String.class)
                .setParameter("chars", chars)
                .setParameter("tenant", tenant.value())
                .setParameter("attempt", attempt)
                .getResultList();
    }

    private <T> Uni<@Nullable T> queryOne(Mutiny.Session session, String sql, TenantId tenant, UUID id, Class<T> type) {
        return session.createNativeQuery(sql, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("id", id)
                .getSingleResultOrNull()
                .map(row -> row == null ? null : read(row, type));
    }

    private String write(@Nullable Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not write labels as JSON", e);
        }
    }

    private <T> T read(String row, Class<T> type) {
        try {
            return json.readValue(row, type);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read a " + type.getSimpleName(), e);
        }
    }
}
