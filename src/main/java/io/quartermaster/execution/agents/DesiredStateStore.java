package io.quartermaster.execution.agents;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.platform.CallBatcher;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads the desired state of nodes. Nodes that are asked for while one read runs share the next one. It uses the system
 * role: a node serves many tenants, and its agent belongs to the operator.
 */
@ApplicationScoped
class DesiredStateStore {

    /** The most nodes in one read. */
    private static final int MAX_NODES_PER_QUERY = 256;

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(5);

    /**
     * One statement for all of it, so that the orders are those of the revision. An attempt that is being paused or
     * resumed is always in exactly one of the two lists.
     */
    private static final String DESIRED = """
            select q.node, q.revision, p.paused, o.*
              from (select n.id as node, n.revision from node n where n.id = any($1)) q
              cross join lateral (
                select coalesce(array_agg(paused_attempt order by paused_attempt), '{}') as paused
                  from workload where paused_node = q.node and paused_attempt is not null and state = 'paused') p
              left join lateral (%s) o on true order by q.node, o.id
            """;

    private static final String ORDERS = DESIRED.formatted("""
            select a.id, a.tenant_id, a.workload_id, a.number, a.worker, a.state, a.stop_reason,
                   greatest(0, (extract(epoch from a.deadline_at - clock_timestamp()) * 1000)::bigint) as grace_left_ms,
                   w.stop_by is not null as hurried, coalesce(w.stop_by <= clock_timestamp(), false) as at_once,
                   w.command, w.environment, w.abort_callback, w.type, least(w.max_runtime_ms, f.max_runtime_ms)
                       as max_runtime_ms,
                   least(p.grace_ms, l.max_grace_ms) as grace_ms, f.workers, f.min_workers, f.gpu_memory_mib,
                       f.gpu_limit_milli, a.resumes, c.isolation, c.pausing, d.devices, n.nodes
              from (select distinct tenant_id, attempt_id from allocation_device
                     where node_id = q.node and freed_at is null) h
              join attempt a on a.tenant_id = h.tenant_id and a.id = h.attempt_id
              join workload w on w.tenant_id = a.tenant_id and w.id = a.workload_id
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
              join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
              join pool l on l.id = a.pool_id
              join node_contact c on c.node_id = q.node
              join lateral (select jsonb_agg(jsonb_build_object('index', device_index, 'gpuMilli', gpu_milli, 'mig',
                  mig,
                                     'migFirst', mig_first) order by device_index)
                                     filter (where device_index is not null) as devices
                              from allocation_device where attempt_id = a.id and tenant_id = a.tenant_id
                                  and node_id = q.node) d on true
              join lateral (select array_agg(distinct node_id order by node_id) as nodes
                              from allocation_device where attempt_id = a.id and tenant_id = a.tenant_id) n on true
             where a.state <> 'ended'
               -- An attempt that ended here, or was given up with the node,
               -- must not start here again before the leader has processed that.
               and not exists (select 1 from report r where r.tenant_id = a.tenant_id and r.attempt_id = a.id
                   and r.node_id = q.node and r.state = 'ended')
            """);

    private final ExecutorDatabase database;
    private final CallBatcher<UUID, List<Row>> reads;

    DesiredStateStore(ExecutorDatabase database, Vertx vertx) {
        this.database = database;
        this.reads = new CallBatcher<>(vertx, MAX_NODES_PER_QUERY, READ_TIMEOUT, this::read);
    }

    /**
     * The desired state of a node.
     *
     * @param attempts those that run or must stop
     * @param paused those that stay paused
     */
    record DesiredState(long revision, List<AttemptOrder> attempts, List<UUID> paused) {}

    /** The desired state of a node, all of it as of one moment after the call. */
    Uni<DesiredState> desired(UUID node) {
        return reads.call(node).map(rows -> {
            long revision = 0;
            List<UUID> paused = List.of();
            List<AttemptOrder> orders = new ArrayList<>();
            for (Row row : rows) {
                revision = row.getLong("revision");
                paused = List.of(row.getArrayOfUUIDs("paused"));
                if (row.getUUID("id") != null) {
                    orders.add(order(row, node));
                }
            }
            return new DesiredState(revision, orders, paused);
        });
    }

    /** The rows of each of these nodes. A row that cannot be read then fails the call of its own node alone. */
    private Uni<List<List<Row>>> read(List<UUID> nodes) {
        return database.on(connection -> connection
                .preparedQuery(ORDERS)
                .execute(Tuple.of(nodes.stream().distinct().toArray(UUID[]::new)))
                .map(rows -> {
                    Map<UUID, List<Row>> found = new HashMap<>();
                    rows.forEach(row -> found.computeIfAbsent(row.getUUID("node"), id -> new ArrayList<>())
                            .add(row));
                    return nodes.stream()
                            .map(node -> found.getOrDefault(node, List.of()))
                            .toList();
                }));
    }

    /** Those of these attempts that the agent may forget: the leader has processed their end, or never knew them. */
    Uni<List<UUID>> forgettable(UUID node, List<UUID> ended) {
        if (ended.isEmpty()) {
            return Uni.createFrom().item(List.of());
        }
        return database.on(connection -> connection
                .preparedQuery("""
                        select x.id from unnest($2::uuid[]) as x(id) left join attempt a on a.id = x.id
                         where a.id is null or a.state = 'ended'
                            or not exists (select 1 from allocation_device d where d.attempt_id = a.id
                                and d.node_id = $1)
                         order by x.id
                        """)
                .execute(Tuple.of(node, ended.toArray(UUID[]::new)))
                .map(rows -> {
                    List<UUID> found = new ArrayList<>();
                    rows.forEach(row -> found.add(row.getUUID("id")));
                    return found;
                }));
    }

    private static AttemptOrder.@Nullable MigInstance instance(JsonObject device) {
        String profile = device.getString("mig");
        return profile == null ? null : new AttemptOrder.MigInstance(profile, device.getInteger("migFirst"));
    }

    private static AttemptOrder order(Row row, UUID node) {
        String tenant = row.getString("tenant_id");
        List<AttemptOrder.DeviceShare> devices = new ArrayList<>();
        JsonArray held = row.get(JsonArray.class, "devices");
        for (Object entry : held == null ? new JsonArray() : held) {
            JsonObject device = (JsonObject) entry;
            devices.add(new AttemptOrder.DeviceShare(
                    device.getInteger("index"), device.getInteger("gpuMilli"), instance(device)));
        }
        List<UUID> nodes = List.of(row.getArrayOfUUIDs("nodes"));
        Map<String, String> environment = new LinkedHashMap<>();
        row.getJsonObject("environment")
                .forEach(entry -> environment.put(entry.getKey(), String.valueOf(entry.getValue())));
        environment.put("QM_NODES", Integer.toString(nodes.size()));
        environment.put("QM_NODE_RANK", Integer.toString(nodes.indexOf(node)));
        environment.put("QM_WORKERS", Integer.toString(row.getInteger("workers")));
        environment.put("QM_MIN_WORKERS", Integer.toString(row.getInteger("min_workers")));
        environment.put(
                "QM_GPUS",
                new GpuAmount(devices.stream()
                                .mapToLong(AttemptOrder.DeviceShare::gpuMilli)
                                .sum())
                        .decimal());
        Long memoryMiB = row.getLong("gpu_memory_mib");
        if (memoryMiB != null) {
            environment.put("QM_GPU_MEMORY_MIB", memoryMiB.toString());
        }
        Integer limitMilli = row.getInteger("gpu_limit_milli");
        OptionalInt part = devices.stream()
                .filter(share -> share.instance() == null && share.gpuMilli() < 1_000)
                .mapToInt(AttemptOrder.DeviceShare::gpuMilli)
                .max();
        if (part.isPresent()) {
            // The profile may have changed since the part was allocated.
            int max = limitMilli == null ? part.getAsInt() : Math.max(part.getAsInt(), limitMilli);
            environment.put("QM_GPU_LIMIT", new GpuAmount(max).decimal());
            // Only NVIDIA's Multi-Process Service reads it, on nodes that run it.
            environment.put("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", Integer.toString((max + 9) / 10));
        }
        Integer surplusWorker = row.getInteger("worker");
        if (surplusWorker != null) {
            environment.put("QM_SURPLUS_WORKER", surplusWorker.toString());
        }
        UUID workload = row.getUUID("workload_id");
        return new AttemptOrder(
                row.getUUID("id"),
                workload,
                tenant,
                row.getInteger("number"),
                texts(row.get(JsonArray.class, "command")),
                environment,
                devices,
                row.getString("isolation").equals("os-user") ? "qm-" + tenant : null,
                workload.toString(),
                texts(row.get(JsonArray.class, "abort_callback")),
                row.getLong("max_runtime_ms"),
                row.getLong("grace_ms"),
                row.getUUID("resumes"),
                desired(row));
    }

    private static AttemptOrder.Desired desired(Row row) {
        if (!row.getString("state").equals("stopping")) {
            return new AttemptOrder.Desired.Run();
        }
        // No time left means that the stop arrived late: then the work gets its whole grace, unless it should have
        // stopped by now.
        long graceLeft =
                row.getBoolean("at_once") ? AttemptOrder.Desired.Stop.AT_ONCE_MILLIS : row.getLong("grace_left_ms");
        // An attempt that is cancelled with a deadline does not pause any more.
        boolean pauses = row.getString("stop_reason").equals("paused") && !row.getBoolean("hurried");
        if (pauses && row.getString("pausing") != null) {
            return new AttemptOrder.Desired.Pause(graceLeft);
        }
        StopReason reason =
                switch (row.getString("stop_reason")) {
                    case "preempted" -> StopReason.PREEMPTED;
                    case "paused" -> row.getBoolean("hurried") ? StopReason.CANCELLED : StopReason.PREEMPTED;
                    case "timed-out" -> StopReason.TIMED_OUT;
                    case "lost" -> StopReason.GIVEN_UP;
                    case "incomplete" -> StopReason.INCOMPLETE;
                    default -> StopReason.CANCELLED;
                };
        return new AttemptOrder.Desired.Stop(reason, graceLeft);
    }

    private static List<String> texts(@Nullable JsonArray array) {
        List<String> texts = new ArrayList<>();
        if (array != null) {
            array.forEach(entry -> texts.add(String.valueOf(entry)));
        }
        return texts;
    }
}
