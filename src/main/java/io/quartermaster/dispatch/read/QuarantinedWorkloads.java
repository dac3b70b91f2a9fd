package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The workloads that plans leave out, because every plan with them or with their tenant's terms fails, and the capacity
 * that they hold. They keep that capacity, so no other workload may use it. If such a workload holds a part of a
 * device, the whole device is kept from others.
 *
 * @param devices the indexes of held devices, by node
 * @param machines the held CPU and memory, by node
 * @param counted the held amount in thousandths, by pool that is a plain count
 */
public record QuarantinedWorkloads(Map<UUID, Set<Integer>> devices, Map<UUID, Part> machines, Map<UUID, Long> counted) {

    public static final String CODE = "SET_ASIDE";
    private static final String SENTENCE =
            "The scheduler could not make a plan that includes this workload, so it plans without it for now.";
    private static final String REMEDY =
            "Wait: the scheduler tries again by itself, and the operator was alerted. Or cancel the workload.";

    /** The time of the next try: after a minute, then after twice as long each time, up to about an hour. */
    static final String UNTIL = "$TIME + interval '1 minute' * (2 ^ least(set_aside_times, 6))";

    private static final String CANCELLED = "cancelled on request";

    private static final String HELD = """
            select a.id, a.pool_id, d.worker, d.node_id, d.device_index, d.gpu_milli, f.cpu_milli, f.memory_mib
              from workload w join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
              join attempt a on a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended'
              join allocation_device d on d.tenant_id = a.tenant_id and d.attempt_id = a.id and d.freed_at is null
             where \
            """;

    /** A part of a machine. */
    public record Part(long cpuMilli, long memoryMiB) {

        static final Part NONE = new Part(0, 0);

        Part plus(long cpu, long memory) {
            return new Part(cpuMilli + cpu, memoryMiB + memory);
        }
    }

    /** Whether any workload or tenant is quarantined. */
    public static boolean isAny(SystemTransaction transaction) {
        return transaction
                .run("select exists (select 1 from workload where set_aside_at is not null)"
                        + " or exists (select 1 from tenant where set_aside_at is not null) as any_set_aside")
                .iterator()
                .next()
                .getBoolean("any_set_aside");
    }

    static QuarantinedWorkloads read(SystemTransaction transaction) {
        Map<UUID, Set<Integer>> devices = new HashMap<>();
        Map<UUID, Part> machines = new HashMap<>();
        Map<UUID, Long> counted = new HashMap<>();
        Set<String> workers = new HashSet<>();
        List<Row> held = new ArrayList<>();
        transaction.run(HELD + "w.set_aside_at is not null").forEach(held::add);
        for (Row tenant : transaction.run("select id from tenant where set_aside_at is not null")) {
            transaction
                    .run(HELD + "w.tenant_id = $1 and w.set_aside_at is null", tenant.getString("id"))
                    .forEach(held::add);
        }
        for (Row row : held) {
            UUID node = row.getUUID("node_id");
            if (node == null) {
                counted.merge(row.getUUID("pool_id"), row.getLong("gpu_milli"), Long::sum);
                continue;
            }
            Integer device = row.getInteger("device_index");
            if (device != null) {
                devices.computeIfAbsent(node, id -> new HashSet<>()).add(device);
            }
            if (workers.add(row.getUUID("id") + " " + row.getInteger("worker"))) {
                machines.merge(
                        node,
                        new Part(row.getLong("cpu_milli"), row.getLong("memory_mib")),
                        (one, other) -> one.plus(other.cpuMilli(), other.memoryMiB()));
            }
        }
        return new QuarantinedWorkloads(devices, machines, counted);
    }

    boolean isHeld(UUID node, int device) {
        return devices.getOrDefault(node, Set.of()).contains(device);
    }

    Part partOf(UUID node) {
        return machines.getOrDefault(node, Part.NONE);
    }

    public static JsonArray reason(PoolId pool) {
        return new JsonArray()
                .add(new JsonObject()
                        .put("pool", pool.value())
                        .put("code", CODE)
                        .put("sentence", SENTENCE)
                        .put("remedy", REMEDY));
    }

    /**
     * Quarantines a workload and notifies its tenant's live views. Returns its id and its tenant for the alarm. Empty
     * if the workload no longer exists or was quarantined already.
     */
    public static Optional<String> mark(
            SystemTransaction transaction, Fence fence, String cell, long sequence, String why) {
        return mark(transaction, fence, cell, "seq = $1", sequence, why);
    }

    public static Optional<String> mark(
            SystemTransaction transaction, Fence fence, String cell, UUID workload, String why) {
        return mark(transaction, fence, cell, "id = $1", workload, why);
    }

    private static Optional<String> mark(
            SystemTransaction transaction, Fence fence, String cell, String which, Object key, String why) {
        for (Row row : transaction.run(
                """
                update workload w set set_aside_at = $6::timestamptz, set_aside_why = $2, set_aside_until = UNTIL,
                    set_aside_times = set_aside_times + 1,
                       reason_at = case when state in ('waiting', 'held', 'paused') then $6::timestamptz end,
                       reason_code = case when state in ('waiting', 'held', 'paused') then $3::text end,
                       reason = case when state in ('waiting', 'held', 'paused')
                           then jsonb_build_array(jsonb_build_object('code', $3::text, 'sentence', $4::text,
                           'remedy', $5::text,
                           'pool', (select l.name from profile f join pool l on l.id = f.pool_ids[1]
                               where f.tenant_id = w.tenant_id and f.id = w.profile_id))) end
                 where WHICH and set_aside_at is null and state not in ('succeeded', 'failed', 'cancelled')
                     returning tenant_id, id, state
                """.replace("UNTIL", UNTIL.replace("$TIME", "$6::timestamptz")).replace("WHICH", which),
                key,
                why,
                CODE,
                SENTENCE,
                REMEDY,
                fence.stamp())) {
            writeFeedEntry(
                    transaction,
                    fence,
                    row,
                    new JsonObject().put("reason", CODE).put("message", SENTENCE));
            fence.saveSequence(transaction, cell);
            return Optional.of("workload " + row.getUUID("id") + " of tenant " + row.getString("tenant_id") + " ("
                    + row.getString("state") + ")");
        }
        return Optional.empty();
    }

    /**
     * Readmits these workloads to plans. Their tenants' live views receive their present states; the next plan gives
     * the reasons why they wait. Returns whether any of them was quarantined.
     */
    public static boolean release(SystemTransaction transaction, Fence fence, String cell, UUID[] workloads) {
        boolean any = false;
        for (Row row : transaction.run(
                "update workload set set_aside_at = null, set_aside_why = null, set_aside_until = null,"
                        + " reason_at = null, reason_code = null, reason = null"
                        + " where id = any($1) and set_aside_at is not null returning tenant_id, id, state",
                (Object) workloads)) {
            writeFeedEntry(transaction, fence, row, new JsonObject());
            any = true;
        }
        fence.saveSequence(transaction, cell);
        return any;
    }

    /** Extends the quarantine, for longer than before. Returns its end. */
    public static String requarantine(SystemTransaction transaction, Fence fence, UUID workload) {
        return retryTime(transaction.run(
                "update workload set set_aside_times = set_aside_times + 1, set_aside_until = "
                        + UNTIL.replace("$TIME", "$2::timestamptz")
                        + " where id = $1 and set_aside_at is not null returning set_aside_until",
                workload,
                fence.stamp()));
    }

    static String retryTime(Iterable<Row> rows) {
        for (Row row : rows) {
            return row.getOffsetDateTime("set_aside_until").toString();
        }
        return "its entry is gone";
    }

    private static void writeFeedEntry(SystemTransaction transaction, Fence fence, Row workload, JsonObject more) {
        transaction.run(
                "insert into feed (tenant_id, seq, kind, ref, body, at) values ($1, $2, 'workload', $3, $4, $5)",
                workload.getString("tenant_id"),
                fence.nextSequence(),
                workload.getUUID("id").toString(),
                more.put("state", workload.getString("state")),
                fence.stamp());
    }

    /** Cancels the workloads among these that hold nothing and whose desired state is cancelled. */
    public static void cancel(SystemTransaction transaction, Fence fence, PlanRows rows, Collection<UUID> named) {
        if (!named.isEmpty()) {
            for (Row row : transaction.run("""
                    with cancelled as (
                        update workload set state = 'cancelled', end_reason = $3, ended_at = $2, changed_at = $2,
                               reason_code = null, reason = null, set_aside_at = null, set_aside_why = null,
                                   set_aside_until = null,
                               paused_attempt = null, paused_node = null, paused_until = null
                         where id = any($1) and (set_aside_at is not null or tenant_id in (select id
                             from tenant where set_aside_at is not null)) and wish = 'cancel'
                             and state in ('waiting', 'held', 'paused')
                        returning tenant_id, id),
                    denominated as (
                        delete from nomination n using cancelled c where n.tenant_id = c.tenant_id
                            and n.workload_id = c.id)
                    select tenant_id, id from cancelled order by id
                    """, CellReader.array(named), fence.stamp(), CANCELLED)) {
                rows.addFeedEntry(
                        new TenantId(row.getString("tenant_id")),
                        row.getUUID("id"),
                        new JsonObject().put("state", "cancelled").put("end_reason", CANCELLED));
            }
        }
    }
}
