package io.quartermaster.metering;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.ledger.BookState;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes the leader's rows about a tenant with one pool and one policy, at any instant: for tests of the ledger alone.
 */
final class BookRows {

    static final long HOUR = BookState.HOUR_MILLIS;
    static final long MINUTE = 60_000;

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final SystemDatabase database;
    private @Nullable SystemTransaction open;
    final String tenant;
    final UUID pool = Ids.next();
    final UUID policy = Ids.next();
    final UUID profile = Ids.next();
    final UUID queue = Ids.next();

    BookRows(SystemDatabase database, String tenant) {
        this.database = database;
        this.tenant = tenant;
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'active')",
                tenant);
        run("insert into pool (id, name) values ($1, $2)", pool, poolName());
        run(
                "insert into policy (tenant_id, id, name, group_path) values ($1, $2, 'research', '/research')",
                tenant,
                policy);
        run(
                "insert into profile (tenant_id, id, name, gpu_milli, pool_ids) values ($1, $2, 'large', 1000, $3)",
                tenant,
                profile,
                new UUID[] {pool});
        run(
                "insert into queue (tenant_id, id, name, policy_id, profile_id) values ($1, $2, 'research-large', "
                        + "$3, $4)",
                tenant,
                queue,
                policy,
                profile);
    }

    String poolName() {
        return tenant + "-pool";
    }

    /** The beginning of an hour some hours ago. */
    static long hoursAgo(int hours) {
        long now = System.currentTimeMillis();
        return now - now % HOUR - hours * HOUR;
    }

    List<Row> run(String sql, Object... parameters) {
        SystemTransaction inIt = open;
        return inIt != null
                ? run(inIt, sql, parameters)
                : database.run(TIMEOUT, transaction -> run(transaction, sql, parameters));
    }

    private static List<Row> run(SystemTransaction transaction, String sql, Object... parameters) {
        List<Row> rows = new ArrayList<>();
        transaction.run(sql, parameters).forEach(rows::add);
        return rows;
    }

    /** Writes everything in one transaction, so that no hour closes with only a part of its rows. */
    void together(Runnable writes) {
        database.run(TIMEOUT, transaction -> {
            open = transaction;
            try {
                writes.run();
            } finally {
                open = null;
            }
            return true;
        });
    }

    long number(String sql, Object... parameters) {
        return run(sql, parameters).getFirst().getLong(0);
    }

    void reserved(long at, long gpus) {
        event(at, "tenant-reserved", new JsonObject().put("gpu_milli", gpus * 1000));
    }

    void policyReserved(long at, long gpus) {
        event(
                at,
                "policy-reserved",
                new JsonObject().put("gpu_milli", gpus * 1000).put("policy_id", policy.toString()));
    }

    void unmet(long at, long gpus) {
        event(at, "unmet", new JsonObject().put("gpu_milli", gpus * 1000));
    }

    /** The tenant declares label keys. The service's own roles may not do that for a tenant. */
    void declare(String... keys) {
        Superuser.run("insert into usage_settings (tenant_id, label_keys, time_zone, version) values ('" + tenant
                + "', '{" + String.join(",", keys) + "}', 'UTC', 1)");
    }

    /** An attempt of a new workload, with its event and its rows. */
    UUID allocated(long at, long gpus) {
        return allocated(at, gpus, null);
    }

    /** @param labels by declared key; null if the tenant declares none */
    UUID allocated(long at, long gpus, @Nullable JsonObject labels) {
        UUID workload = Ids.next();
        UUID attempt = Ids.next();
        run("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command, state)
                values ($1, $2, 'w', 'training', $3, $4, $5, 'ada', 50, true, '["true"]', 'running')
                """, tenant, workload, queue, policy, profile);
        run("""
                insert into attempt (tenant_id, id, workload_id, number, state, pool_id, gpu_milli, bound_at)
                values ($1, $2, $3, 1, 'bound', $4, $5, to_timestamp($6::bigint / 1000.0))
                """, tenant, attempt, workload, pool, gpus * 1000, at);
        run(
                "insert into allocation_device (tenant_id, attempt_id, worker, gpu_milli) values ($1, $2, 0, $3)",
                tenant,
                attempt,
                gpus * 1000);
        JsonObject marks = new JsonObject()
                .put("policy", policy.toString())
                .put("group", "/research")
                .put("profile", "large")
                .put("queue", "research-large")
                .put("workload", workload.toString())
                .put("attempt", attempt.toString())
                .put("user", "ada")
                .put("cluster", "here")
                .put("preemptible", true);
        event(
                at,
                "allocated",
                new JsonObject()
                        .put("allocation_id", attempt.toString())
                        .put("gpu_milli", gpus * 1000)
                        .put("policy_id", policy.toString())
                        .put("format", labels == null ? 1 : 2)
                        .put("marks", marks)
                        .put("labels", labels == null ? null : withNulls(labels)));
        return attempt;
    }

    /** The service's own mapper, which also writes the parameters of statements, leaves out fields that are null. */
    private static String withNulls(JsonObject labels) {
        try {
            return new ObjectMapper().writeValueAsString(labels.getMap());
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    void phase(long at, UUID attempt, String phase, long since) {
        event(
                at,
                "phase",
                new JsonObject()
                        .put("allocation_id", attempt.toString())
                        .put("phase", phase)
                        .put("since_ms", since));
    }

    void freed(long at, UUID attempt) {
        run("""
                update attempt set state = 'ended', outcome = 'succeeded', ended_at = to_timestamp($3::bigint / 1000.0)
                 where tenant_id = $1 and id = $2
                """, tenant, attempt, at);
        run(
                "update allocation_device set freed_at = to_timestamp($3::bigint / 1000.0) where tenant_id = $1 "
                        + "and attempt_id = $2",
                tenant,
                attempt,
                at);
        event(at, "freed", new JsonObject().put("allocation_id", attempt.toString()));
    }

    private void event(long at, String kind, JsonObject more) {
        run("""
                with next as (update cell set sequence = sequence + 1 where id = 'main' returning sequence)
                insert into usage_event (seq, cell_id, tenant_id, at_ms, kind, pool_id, pool, allocation_id,
                    policy_id, gpu_milli, phase, since_ms, marks, format)
                select next.sequence, 'main', $1, $2, $3, $4, $5, x.allocation_id, x.policy_id, x.gpu_milli, x.phase,
                    x.since_ms,
                    case when x.labels is null then x.marks
                         else x.marks || jsonb_build_object('labels', cast(x.labels as jsonb)) end,
                    coalesce(x.format, 1)
                  from next, jsonb_to_record($6) as x(allocation_id uuid, policy_id uuid, gpu_milli bigint,
                      phase text, since_ms bigint, marks jsonb, labels text, format int)
                """, tenant, at, kind, pool, poolName(), more);
    }

    /** A node whose last contact was at an instant, and which has not been given up. */
    UUID silentNode(long heardMillis) {
        UUID cluster = Ids.next();
        UUID node = Ids.next();
        run(
                "insert into cluster (id, name, kind, region) values ($1, $2, 'agent', 'here')",
                cluster,
                tenant + "-cluster");
        run(
                "insert into node (id, name, cluster_id, pool_id) values ($1, $2, $3, $4)",
                node,
                tenant + "-node",
                cluster,
                pool);
        run("""
                insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard,
                    lease_until)
                values ($1, '1', 'b', 'i', 'container', to_timestamp($2::bigint / 1000.0),
                    clock_timestamp() + interval '1 hour')
                """, node, heardMillis);
        return node;
    }

    /** One of the attempt's devices is on the node. */
    void runsOn(UUID node, UUID attempt) {
        run(
                "update allocation_device set node_id = $1, device_index = (select count(*) from "
                        + "allocation_device where node_id = $1) where attempt_id = $2",
                node,
                attempt);
    }

    /** The node reported the end of the work; the leader has not applied it. */
    void workEnded(UUID node, UUID attempt, long atMillis) {
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, reported_at, work_ended_at)
                values ($1, $2, $3, 'ended', 'succeeded', clock_timestamp(), to_timestamp($4::bigint / 1000.0))
                """, tenant, attempt, node, atMillis);
    }

    void givenUp(UUID node) {
        run("update node_contact set lost_at = clock_timestamp() where node_id = $1", node);
    }
}
