package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.GroupPath;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Reads workloads and writes desired states, in a transaction of the request role. PostgreSQL assembles each result as
 * one JSON document, so a workload with all its parts is one statement.
 */
@ApplicationScoped
class WorkloadStore {

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
                   w.reason_code as reason, w.attempts, w.submitted_at as "submittedAt", w.started_at as "startedAt",
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

    /** The filter of a list; absent fields match everything. */
    record Filter(
            List<WorkloadState> states,
            @Nullable String queue,
            @Nullable GroupPath group,
            @Nullable String submittedBy,
            @Nullable String name) {}

    /** Lists workloads, newest first. */
    Uni<List<WorkloadApi.View>> list(
            Mutiny.Session session, TenantId tenant, Filter filter, Optional<UUID> after, int max) {
        Map<String, Object> parameters = new LinkedHashMap<>();
        StringBuilder where = new StringBuilder();
        if (!filter.states().isEmpty()) {
            where.append(" and w.state in (:states)");
            parameters.put(
                    "states", filter.states().stream().map(WorkloadState::word).toList());
        }
        if (filter.queue() != null) {
            where.append(" and q.name = :queue");
            parameters.put("queue", filter.queue());
        }
        if (filter.group() != null) {
            where.append(" and (p.group_path = :group or starts_with(p.group_path, :below))");
            parameters.put("group", filter.group().value());
            parameters.put("below", filter.group().value() + "/");
        }
        if (filter.submittedBy() != null) {
            where.append(" and w.submitted_by = :submittedBy");
            parameters.put("submittedBy", filter.submittedBy());
        }
        if (filter.name() != null) {
            where.append(" and starts_with(w.name, :name)");
            parameters.put("name", filter.name());
        }
        after.ifPresent(id -> {
            where.append(" and w.id < :after");
            parameters.put("after", id);
        });
        Mutiny.SelectionQuery<String> query = session.createNativeQuery(
                "select cast(row_to_json(v) as text) from (" + VIEW + where + " order by w.id desc limit :most) v",
                String.class);
        parameters.forEach(query::setParameter);
        return query.setParameter("tenant", tenant.value())
                .setParameter("most", max)
                .getResultList()
                .map(rows -> rows.stream()
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

    private <T> T read(String row, Class<T> type) {
        try {
            return json.readValue(row, type);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read a " + type.getSimpleName(), e);
        }
    }
}
