package io.quartermaster.workloads.search;

import io.quartermaster.access.GroupPath;
import io.quartermaster.workloads.WorkloadState;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A choice of workloads; absent parts match everything. The conditions use columns of {@code workload} alone, or
 * indexed rows beside it. So a list reads few other rows for the workloads that it passes over.
 *
 * @param states those that match; empty: all
 * @param reasons codes of the reason in the first pool; empty: with any reason or none
 * @param group the group and its subgroups
 * @param pool one that the workload may start in, or that its newest attempt was in
 * @param name the beginning of the name
 * @param from the first time of submission
 * @param until the time before which the submission was
 */
record WorkloadFilter(
        List<WorkloadState> states,
        List<String> reasons,
        Optional<String> queue,
        Optional<GroupPath> group,
        Optional<String> pool,
        Optional<String> submittedBy,
        Optional<String> name,
        List<Label> labels,
        Optional<Instant> from,
        Optional<Instant> until) {

    static final String IS_LIVE = " and w.state not in ('succeeded', 'failed', 'cancelled')";

    /** Ids begin with the time of their creation, by a clock that may differ from the database's by this much. */
    private static final Duration ID_TOLERANCE = Duration.ofMinutes(5);

    WorkloadFilter {
        states = List.copyOf(states);
        reasons = List.copyOf(reasons);
        labels = List.copyOf(labels);
    }

    /** @param value absent: any */
    record Label(String key, Optional<String> value) {}

    boolean isEmpty() {
        return states.isEmpty()
                && reasons.isEmpty()
                && labels.isEmpty()
                && List.of(queue, group, pool, submittedBy, name, from, until).stream()
                        .allMatch(Optional::isEmpty);
    }

    /** Conditions on {@code workload w} in SQL, with their parameters beside {@code :tenant}. */
    record Conditions(String sql, Map<String, Object> parameters) {}

    Conditions conditions() {
        StringBuilder sql = new StringBuilder();
        Map<String, Object> parameters = new LinkedHashMap<>();
        if (!states.isEmpty()) {
            sql.append(" and w.state in (:states)");
            parameters.put("states", states.stream().map(WorkloadState::word).toList());
            if (states.stream().noneMatch(WorkloadState.Over.class::isInstance)) {
                sql.append(IS_LIVE);
            }
        }
        if (!reasons.isEmpty()) {
            sql.append(" and w.reason_code in (:reasons) and w.state in ('held', 'waiting', 'paused')")
                    .append(IS_LIVE);
            parameters.put("reasons", reasons);
        }
        queue.ifPresent(called -> {
            sql.append(" and w.queue_id in (select q.id from queue q where q.tenant_id = :tenant and q.name = :queue)");
            parameters.put("queue", called);
        });
        group.ifPresent(path -> {
            sql.append(" and w.policy_id in (select p.id from policy p where p.tenant_id = :tenant"
                    + " and (p.group_path = :group or starts_with(p.group_path, :below)))");
            parameters.put("group", path.value());
            parameters.put("below", path.value() + "/");
        });
        pool.ifPresent(called -> {
            sql.append("""
                     and case when w.state in ('held', 'waiting', 'paused') then exists (
                             select 1 from profile f join pool l on l.id = any(f.pool_ids)
                              where f.tenant_id = :tenant and f.id = w.profile_id and l.name = :pool)
                         else (select l.name from attempt a join pool l on l.id = a.pool_id
                                where a.tenant_id = :tenant and a.workload_id = w.id and a.worker is null
                                order by a.number desc limit 1) = :pool end
                    """);
            parameters.put("pool", called);
        });
        submittedBy.ifPresent(user -> {
            sql.append(" and w.submitted_by = :submittedBy");
            parameters.put("submittedBy", user);
        });
        name.ifPresent(beginning -> {
            sql.append(" and starts_with(w.name, :name)");
            parameters.put("name", beginning);
        });
        labels(sql, parameters);
        times(sql, parameters);
        return new Conditions(sql.toString(), parameters);
    }

    private void labels(StringBuilder sql, Map<String, Object> parameters) {
        for (int i = 0; i < labels.size(); i++) {
            Label label = labels.get(i);
            sql.append(" and w.id in (select b.workload_id from workload_label b where b.tenant_id = :tenant and b.key"
                    + " = :key" + i + (label.value().isEmpty() ? ")" : " and b.value = :value" + i + ")"));
            parameters.put("key" + i, label.key());
            String value = "value" + i;
            label.value().ifPresent(text -> parameters.put(value, text));
        }
    }

    private void times(StringBuilder sql, Map<String, Object> parameters) {
        from.ifPresent(time -> {
            sql.append(" and w.submitted_at >= :from and w.id >= :firstId");
            parameters.put("from", time.atOffset(ZoneOffset.UTC));
            parameters.put("firstId", firstId(time.minus(ID_TOLERANCE)));
        });
        until.ifPresent(time -> {
            sql.append(" and w.submitted_at < :until and w.id < :endId");
            parameters.put("until", time.atOffset(ZoneOffset.UTC));
            parameters.put("endId", firstId(time.plus(ID_TOLERANCE)));
        });
    }

    /** The smallest id that can be created at this time. */
    private static UUID firstId(Instant time) {
        return new UUID(Math.max(0, time.toEpochMilli()) << 16, 0);
    }
}
