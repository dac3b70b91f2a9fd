package io.quartermaster.dispatch;

import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Rows that the API, the operator and executors would write, written directly into the tables: for tests of the leader
 * alone.
 */
public final class CellRows {

    public static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final SystemDatabase database;
    public final String tenant;

    public CellRows(SystemDatabase database, String tenant) {
        this.database = database;
        this.tenant = tenant;
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'active')",
                tenant);
        inbox("tenant", tenant);
    }

    public List<Row> run(String sql, Object... parameters) {
        return database.run(TIMEOUT, tx -> {
            List<Row> rows = new ArrayList<>();
            tx.run(sql, parameters).forEach(rows::add);
            return rows;
        });
    }

    void inbox(String kind, String ref) {
        run("insert into inbox (tenant_id, kind, ref) values ($1, $2, $3)", tenant, kind, ref);
    }

    public UUID pool(String name) {
        UUID id = Ids.next();
        run("insert into pool (id, name) values ($1, $2)", id, name);
        inbox("pool", id.toString());
        return id;
    }

    /** A pool with one node of that many GPUs, all of them allotted to the tenant. */
    UUID poolOf(int gpus) {
        UUID pool = pool(tenant);
        node(pool, tenant + "-1", gpus, Duration.ofMinutes(30));
        allotment(pool, gpus, gpus);
        return pool;
    }

    public UUID node(UUID pool, String name, int gpus, Duration lease) {
        UUID id = Ids.next();
        UUID cluster = Ids.next();
        run(
                "insert into cluster (id, name, kind, region) values ($1, $2, 'agent', 'here')",
                cluster,
                name + "-cluster");
        run("insert into node (id, name, cluster_id, pool_id) values ($1, $2, $3, $4)", id, name, cluster, pool);
        run(
                "insert into gpu (node_id, device_index, uuid, model, memory_mib) select $1, i, $2 || i, 'H100', "
                        + "81920 from generate_series(0, $3 - 1) i",
                id,
                name + "-gpu-",
                gpus);
        contact(id, lease);
        return id;
    }

    void contact(UUID node, Duration lease) {
        run("""
                insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard,
                    lease_until)
                values ($1, '1', 'b', 'i', 'container', clock_timestamp(),
                    clock_timestamp() + $2::bigint * interval '1 millisecond')
                on conflict (node_id) do update set last_heard = excluded.last_heard, lease_until = excluded.lease_until
                """, node, lease.toMillis());
        inbox("node", node.toString());
    }

    public void allotment(UUID pool, long reserved, long limit) {
        run(
                "insert into allotment (tenant_id, pool_id, reserved_milli, limit_milli, weight) values ($1, $2, "
                        + "$3, $4, 1)",
                tenant,
                pool,
                reserved * 1000,
                limit * 1000);
        inbox("allotment", pool.toString());
    }

    public UUID policy(String group, UUID pool, long reserved, long limit) {
        UUID id = Ids.next();
        run(
                "insert into policy (tenant_id, id, name, group_path, grace_ms) values ($1, $2, $3, $4, 1000)",
                tenant,
                id,
                group.substring(1),
                group);
        run(
                "insert into policy_quota (tenant_id, policy_id, pool_id, reserved_milli, limit_milli) values "
                        + "($1, $2, $3, $4, $5)",
                tenant,
                id,
                pool,
                reserved * 1000,
                limit * 1000);
        inbox("policy", id.toString());
        return id;
    }

    public UUID profile(int gpus, UUID pool) {
        return profile(gpus, 1, 1, pool);
    }

    /** A profile whose workers each have that many GPUs; {@code minWorkers} of them start together. */
    UUID profile(int gpus, int workers, int minWorkers, UUID pool) {
        UUID id = Ids.next();
        run(
                "insert into profile (tenant_id, id, name, gpu_milli, workers, min_workers, pool_ids) values ($1, "
                        + "$2, $3, $4, $5, $6, $7)",
                tenant,
                id,
                gpus + "x" + workers,
                gpus * 1000L,
                workers,
                minWorkers,
                new UUID[] {pool});
        return id;
    }

    public UUID queue(UUID policy, UUID profile) {
        UUID id = Ids.next();
        run(
                "insert into queue (tenant_id, id, name, policy_id, profile_id) values ($1, $2, $3, $4, $5)",
                tenant,
                id,
                "q-" + id,
                policy,
                profile);
        return id;
    }

    /** A workload of a group that has that many GPUs reserved and as its limit. */
    UUID job(UUID pool, long gpus, UUID profile) {
        UUID policy = policy("/all", pool, gpus, gpus);
        return submit(queue(policy, profile), policy, profile);
    }

    /** A queue with its policy and profile. */
    record QueueIds(UUID queue, UUID policy, UUID profile) {}

    UUID submit(QueueIds ids) {
        return submit(ids.queue(), ids.policy(), ids.profile());
    }

    public UUID submit(UUID queue, UUID policy, UUID profile) {
        return submit(queue, policy, profile, true);
    }

    UUID submit(UUID queue, UUID policy, UUID profile, boolean preemptible) {
        UUID id = Ids.next();
        run("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command)
                values ($1, $2, 'w', 'training', $3, $4, $5, 'somebody', 50, $6, '["true"]')
                """, tenant, id, queue, policy, profile, preemptible);
        inbox("workload", id.toString());
        return id;
    }

    public void wish(UUID workload, String wish) {
        run("update workload set wish = $2 where id = $1", workload, wish);
        inbox("workload", workload.toString());
    }

    public void report(UUID workload, String state, String outcome) {
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, exit_code, reported_at)
                select a.tenant_id, a.id, d.node_id, $2, nullif($3, ''), 0, clock_timestamp() from attempt a
                  join allocation_device d on d.attempt_id = a.id
                 where a.workload_id = $1 and a.state <> 'ended' group by a.tenant_id, a.id, d.node_id
                on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                    outcome = excluded.outcome
                """, workload, state, outcome);
        inbox("report", workload.toString());
    }

    /** Writes a report of one node's executor. */
    void reportOn(UUID node, UUID workload, String state, String outcome) {
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, exit_code, reported_at)
                select a.tenant_id, a.id, $2, $3, nullif($4, ''), 0, clock_timestamp() from attempt a
                 where a.workload_id = $1 and a.state <> 'ended'
                on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                    outcome = excluded.outcome
                """, workload, node, state, outcome);
        inbox("report", workload.toString());
    }

    /** Writes when the processes on a node ended, which its executor has reported. */
    void workEnded(UUID node, UUID workload, long atMillis) {
        run("""
                update report r set work_ended_at = to_timestamp($3::bigint / 1000.0) from attempt a
                 where a.workload_id = $2 and a.state <> 'ended' and r.tenant_id = a.tenant_id
                     and r.attempt_id = a.id and r.node_id = $1
                """, node, workload, atMillis);
    }

    /** The time by the database's clock. */
    long nowMillis() {
        return run("select floor(extract(epoch from clock_timestamp()) * 1000)::bigint as now")
                .getFirst()
                .getLong("now");
    }

    /** Writes a report on one attempt: that of a surplus worker, or that of the workload itself. */
    void reportAttempt(UUID attempt, UUID workload, String state, String outcome) {
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, exit_code, reported_at)
                select d.tenant_id, d.attempt_id, d.node_id, $2, nullif($3, ''), 0, clock_timestamp()
                    from allocation_device d
                 where d.attempt_id = $1 group by d.tenant_id, d.attempt_id, d.node_id
                on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                    outcome = excluded.outcome
                """, attempt, state, outcome);
        inbox("report", workload.toString());
    }

    /** The live attempt of a surplus worker. */
    UUID surplus(UUID workload, int worker) {
        return run(
                        "select id from attempt where workload_id = $1 and worker = $2 and state <> 'ended'",
                        workload,
                        worker)
                .getFirst()
                .getUUID("id");
    }

    public String state(UUID workload) {
        return run("select state from workload where id = $1", workload)
                .getFirst()
                .getString("state");
    }

    public String reason(UUID workload) {
        return run("select reason_code from workload where id = $1", workload)
                .getFirst()
                .getString("reason_code");
    }

    /** Thousandths of GPUs in the tenant's usage events of one kind, in their order. */
    List<Long> usage(String kind) {
        return run("select gpu_milli from usage_event where tenant_id = $1 and kind = $2 order by seq", tenant, kind)
                .stream()
                .map(row -> row.getLong("gpu_milli"))
                .toList();
    }

    /** How many devices the tenant's attempts hold. */
    long held() {
        return run("select count(*) as n from allocation_device where tenant_id = $1 and freed_at is null", tenant)
                .getFirst()
                .getLong("n");
    }
}
