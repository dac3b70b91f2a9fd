package io.quartermaster.workloads;

import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * A pool with GPUs and a tenant's policies and queues in it, written directly into the tables: for tests of submission
 * alone.
 */
final class QueueRows {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final long NODE_LEASE_MILLIS = Duration.ofHours(1).toMillis();

    private final SystemDatabase database;
    final String tenant;

    QueueRows(SystemDatabase database, String tenant) {
        this.database = database;
        this.tenant = tenant;
    }

    List<Row> run(String sql, Object... parameters) {
        return database.run(TIMEOUT, tx -> {
            List<Row> rows = new ArrayList<>();
            tx.run(sql, parameters).forEach(rows::add);
            return rows;
        });
    }

    void inbox(String kind, String ref) {
        run("insert into inbox (tenant_id, kind, ref) values ($1, $2, $3)", tenant, kind, ref);
    }

    /** A pool with one node of that many GPUs, all of which are the tenant's reserved amount and limit. */
    UUID pool(String name, int gpus) {
        UUID pool = Ids.next();
        UUID cluster = Ids.next();
        UUID node = Ids.next();
        run("insert into pool (id, name) values ($1, $2)", pool, name);
        run("insert into cluster (id, name, kind, region) values ($1, $2, 'agent', 'here')", cluster, name);
        run("insert into node (id, name, cluster_id, pool_id) values ($1, $2, $3, $4)", node, name, cluster, pool);
        run(
                "insert into gpu (node_id, device_index, uuid, model, memory_mib) select $1, i, $2 || i, 'H100', "
                        + "81920 from generate_series(0, $3 - 1) i",
                node,
                name + "-gpu-",
                gpus);
        run("""
                insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard,
                    lease_until)
                values ($1, '1', 'b', 'i', 'container', clock_timestamp(),
                    clock_timestamp() + $2::bigint * interval '1 millisecond')
                """, node, NODE_LEASE_MILLIS);
        run(
                "insert into allotment (tenant_id, pool_id, reserved_milli, limit_milli, weight) values ($1, $2, "
                        + "$3, $3, 1)",
                tenant,
                pool,
                gpus * 1000L);
        inbox("pool", pool.toString());
        inbox("node", node.toString());
        inbox("allotment", pool.toString());
        return pool;
    }

    /**
     * The queue of a group's policy. Its access rule admits the group at its top; its name is that of the policy and
     * the profile.
     */
    String queue(String group, UUID pool, int reserved, int limit, int gpus, int maxWaiting) {
        UUID policy = Ids.next();
        UUID profile = Ids.next();
        UUID queue = Ids.next();
        String name = group.substring(1).replace('/', '-') + "-" + gpus + "x-"
                + queue.toString().substring(28);
        run(
                "insert into policy (tenant_id, id, name, group_path, grace_ms) values ($1, $2, $3, $4, 1000)",
                tenant,
                policy,
                group.substring(1).replace('/', '-'),
                group);
        run(
                "insert into policy_quota (tenant_id, policy_id, pool_id, reserved_milli, limit_milli) values "
                        + "($1, $2, $3, $4, $5)",
                tenant,
                policy,
                pool,
                reserved * 1000L,
                limit * 1000L);
        run(
                "insert into profile (tenant_id, id, name, gpu_milli, pool_ids) values ($1, $2, $3, $4, $5)",
                tenant,
                profile,
                name,
                gpus * 1000L,
                new UUID[] {pool});
        run(
                "insert into queue (tenant_id, id, name, policy_id, profile_id, max_waiting) values ($1, $2, $3, "
                        + "$4, $5, $6)",
                tenant,
                queue,
                name,
                policy,
                profile,
                maxWaiting);
        run(
                "insert into access_rule (tenant_id, id, queue_id, subject_kind, subject) values ($1, $2, $3, "
                        + "'group', $4)",
                tenant,
                Ids.next(),
                queue,
                "/" + group.split("/", -1)[1]);
        inbox("policy", policy.toString());
        inbox("queue", queue.toString());
        return name;
    }

    long workloads() {
        return run("select count(*) as n from workload where tenant_id = $1", tenant)
                .getFirst()
                .getLong("n");
    }

    /** Writes a report of the workload's node. */
    void report(UUID workload, String state, String outcome, String logTail) {
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, exit_code, log_tail, reported_at)
                select a.tenant_id, a.id, d.node_id, $2, nullif($3, ''), 0, $4, clock_timestamp() from attempt a
                  join allocation_device d on d.attempt_id = a.id
                 where a.workload_id = $1 and a.state <> 'ended' group by a.tenant_id, a.id, d.node_id
                on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                    outcome = excluded.outcome,
                    log_tail = excluded.log_tail
                """, workload, state, outcome, logTail);
        inbox("report", workload.toString());
    }
}
