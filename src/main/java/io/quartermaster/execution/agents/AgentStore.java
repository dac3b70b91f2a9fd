package io.quartermaster.execution.agents;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.capacity.inventory.NodeIsolationRule;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Stores the reports of agents and reads the desired state of their nodes. It uses the system role: a node serves many
 * tenants, and its agent belongs to the operator.
 */
@ApplicationScoped
class AgentStore {

    /**
     * One statement for both lists, so that an attempt that is being paused or resumed is always in exactly one of
     * them.
     */
    private static final String WANTED = """
            select p.paused, o.* from (
                select coalesce(array_agg(paused_attempt order by paused_attempt), '{}') as paused
                  from workload where paused_node = $1 and paused_attempt is not null and state = 'paused') p
              left join (%s) o on true order by o.id
            """;

    private static final String ORDERS = WANTED.formatted("""
            select a.id, a.tenant_id, a.workload_id, a.number, a.worker, a.state, a.stop_reason,
                   greatest(0, (extract(epoch from a.deadline_at - clock_timestamp()) * 1000)::bigint) as grace_left_ms,
                   w.stop_by is not null as hurried, coalesce(w.stop_by <= clock_timestamp(), false) as at_once,
                   w.command, w.environment, w.abort_callback, w.type, least(w.max_runtime_ms, f.max_runtime_ms)
                       as max_runtime_ms,
                   least(p.grace_ms, l.max_grace_ms) as grace_ms, f.workers, f.min_workers, f.gpu_memory_mib,
                       f.gpu_limit_milli, a.resumes, c.isolation, c.pausing, d.devices, n.nodes
              from attempt a
              join workload w on w.tenant_id = a.tenant_id and w.id = a.workload_id
              join policy p on p.tenant_id = w.tenant_id and p.id = w.policy_id
              join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
              join pool l on l.id = a.pool_id
              join node_contact c on c.node_id = $1
              join lateral (select jsonb_agg(jsonb_build_object('index', device_index, 'gpuMilli', gpu_milli, 'mig',
                  mig,
                                     'migFirst', mig_first) order by device_index)
                                     filter (where device_index is not null) as devices
                              from allocation_device where attempt_id = a.id and tenant_id = a.tenant_id
                                  and node_id = $1) d on true
              join lateral (select array_agg(distinct node_id order by node_id) as nodes
                              from allocation_device where attempt_id = a.id and tenant_id = a.tenant_id) n on true
             where a.state <> 'ended'
               and a.id in (select attempt_id from allocation_device where node_id = $1 and freed_at is null)
               -- An attempt that ended here, or was given up with the node,
               -- must not start here again before the leader has processed that.
               and not exists (select 1 from report r where r.tenant_id = a.tenant_id and r.attempt_id = a.id
                   and r.node_id = $1 and r.state = 'ended')
            """);

    /**
     * Stores reports of attempts that are bound to this node. The inbox gets only those whose state changed; the log
     * grows without the leader.
     *
     * <p>The first reported end of an attempt stays, so a repeated report changes nothing. The end is never before the
     * attempt was bound, nor before the last contact (the third parameter): until that contact the node had reported no
     * end, and the hour before it may be closed.
     */
    private static final String REPORTS = """
            with said as (
                select x.*, a.tenant_id, a.workload_id, r.state as old_state,
                       case when x.ended_ago_ms is not null
                            then greatest(a.bound_at, r.reported_at, $3,
                                clock_timestamp() - x.ended_ago_ms * interval '1 millisecond') end as work_ended_at
                  from jsonb_to_recordset($2) as x(id uuid, state text, outcome text, exit_code int, message text,
                      started_ms bigint,
                       ended_ms bigint, ended_ago_ms bigint, log_tail text, log_bytes bigint)
                  join attempt a on a.id = x.id
                  left join report r on r.tenant_id = a.tenant_id and r.attempt_id = a.id and r.node_id = $1
                 where exists (select 1 from allocation_device d where d.attempt_id = a.id
                     and d.tenant_id = a.tenant_id and d.node_id = $1)
                   and r.state is distinct from 'ended'),
            taken as (
                insert into report as r (tenant_id, attempt_id, node_id, state, outcome, exit_code, message,
                    started_at, ended_at, log_tail,
                                         log_bytes, reported_at, work_ended_at)
                select tenant_id, id, $1, state, outcome, exit_code, message,
                    timestamptz 'epoch' + started_ms * interval '1 millisecond',
                       timestamptz 'epoch' + ended_ms * interval '1 millisecond', log_tail, coalesce(log_bytes, 0),
                           clock_timestamp(), work_ended_at
                  from said
                on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                    outcome = excluded.outcome,
                       exit_code = excluded.exit_code, message = excluded.message,
                           started_at = coalesce(excluded.started_at, r.started_at),
                       ended_at = excluded.ended_at, log_tail = coalesce(excluded.log_tail, r.log_tail),
                       log_bytes = greatest(excluded.log_bytes, r.log_bytes), reported_at = excluded.reported_at,
                       work_ended_at = coalesce(r.work_ended_at, excluded.work_ended_at)
                returning 1)
            insert into inbox (tenant_id, kind, ref)
            select tenant_id, 'report', workload_id::text from said where old_state is distinct from state
            """;

    private final ExecutorDatabase database;
    private final NodeIsolationRule nodeIsolationRule;

    AgentStore(ExecutorDatabase database, NodeIsolationRule nodeIsolationRule) {
        this.database = database;
        this.nodeIsolationRule = nodeIsolationRule;
    }

    /** A node that is not retired. */
    record NodeRef(UUID id, long revision) {}

    Uni<Optional<NodeRef>> node(String name) {
        return database.on(connection -> connection
                .preparedQuery("select id, revision from node where name = $1 and retired_at is null")
                .execute(Tuple.of(name))
                .map(rows -> first(rows).map(row -> new NodeRef(row.getUUID("id"), row.getLong("revision")))));
    }

    Uni<Long> revision(UUID node) {
        return database.on(connection -> connection
                .preparedQuery("select revision from node where id = $1")
                .execute(Tuple.of(node))
                .map(rows -> first(rows).map(row -> row.getLong("revision")).orElse(0L)));
    }

    /** Whether the calling agent may run work on the node. */
    enum Standing {
        LEASED,
        /** The lease expired, and the leader has yet to give the node up: nothing may run there. */
        LAPSED,
        /** The lease is valid, and another agent holds it. */
        OF_ANOTHER_AGENT
    }

    /**
     * The result of a request.
     *
     * @param announced whether the inbox has a new row for the leader
     */
    record Taken(boolean announced, Standing standing) {}

    /**
     * Applies the report of an agent.
     *
     * @param lease how long the node counts as leased from now
     */
    Uni<Taken> take(UUID node, SyncRequest request, Duration lease) {
        return database.in(connection -> requireFit(connection, node, request.inventory())
                .chain(() -> contact(connection, node, request, lease))
                .chain(contact -> {
                    if (contact.isEmpty()) {
                        return standing(connection, node, request).map(standing -> new Taken(false, standing));
                    }
                    Standing standing = contact.get().leased() ? Standing.LEASED : Standing.LAPSED;
                    return inventory(connection, node, request.inventory())
                            .chain(changed -> changed || contact.get().news()
                                    ? inboxNode(connection, node).replaceWith(true)
                                    : Uni.createFrom().item(false))
                            .chain(announced -> reports(
                                            connection,
                                            node,
                                            request.attempts(),
                                            contact.get().before())
                                    .map(reported -> new Taken(announced || reported, standing)));
                }));
    }

    /**
     * Refuses a node that does not suit its pool, at its first contact only. A known node stays in its pool, and the
     * leader allows for its isolation.
     */
    private Uni<Void> requireFit(SqlConnection connection, UUID node, Inventory inventory) {
        return switch (inventory.isolation()) {
            case CONTAINER -> Uni.createFrom().voidItem();
            case OS_USER, NONE ->
                connection
                        .preparedQuery("select 1 from node_contact where node_id = $1")
                        .execute(Tuple.of(node))
                        .chain(heard -> heard.size() > 0
                                ? Uni.createFrom().voidItem()
                                : nodeIsolationRule.checkAgent(connection, node));
        };
    }

    /**
     * The standing of an agent whose request changed nothing: the request is outdated, or comes from another agent,
     * which is recorded.
     */
    private static Uni<Standing> standing(SqlConnection connection, UUID node, SyncRequest request) {
        return connection
                .preparedQuery(
                        "update node_contact c set other_agent_seen_at = clock_timestamp() where node_id = $1 and "
                                + ANOTHERS.formatted("$2", "$3"))
                .execute(Tuple.of(node, request.stateId(), request.bootId()))
                .chain(noted -> noted.rowCount() > 0
                        ? Uni.createFrom().item(Standing.OF_ANOTHER_AGENT)
                        : connection
                                .preparedQuery(
                                        "select lease_until > clock_timestamp() as leased from node_contact where "
                                                + "node_id = $1")
                                .execute(Tuple.of(node))
                                .map(rows -> first(rows)
                                        .filter(row -> row.getBoolean("leased"))
                                        .map(row -> Standing.LEASED)
                                        .orElse(Standing.LAPSED)));
    }

    /**
     * Whether the lease of contact c is valid and belongs to an agent other than the one with this state folder in this
     * boot. For agents that do not report their folder, the boot alone decides. This also holds for a lost node: the
     * first agent that reports again has its lease, even before the leader has taken the node back.
     */
    private static final String ANOTHERS =
            "(c.lease_until > clock_timestamp()" + " and (c.boot_id <> %2$s or coalesce(c.state_id <> %1$s, false)))";

    /**
     * @param news whether the leader must learn that the node is present (again), or that its machine is another
     * @param before the time of the previous contact; null at the first
     */
    private record Contact(
            boolean leased, boolean news, @Nullable OffsetDateTime before) {}

    /** Records the contact; empty if the request is outdated, or from an agent that may not speak for the node. */
    private static Uni<Optional<Contact>> contact(
            SqlConnection connection, UUID node, SyncRequest request, Duration lease) {
        return connection
                .preparedQuery("""
                        with before as (select lost_at, cpu_milli, memory_mib, pausing, isolation
                            from node_contact where node_id = $1)
                        insert into node_contact as c (node_id, agent_version, boot_id, instance_id, sequence,
                            isolation, cpu_milli, memory_mib,
                               pausing, state_id, last_heard, lease_until)
                        values ($1, $2, $3, $4, $5, $6, $8, $9, $10, $11, clock_timestamp(),
                            clock_timestamp() + $7::bigint * interval '1 millisecond')
                        on conflict (node_id) do update set agent_version = excluded.agent_version,
                            boot_id = excluded.boot_id,
                               instance_id = excluded.instance_id, sequence = excluded.sequence,
                                   isolation = excluded.isolation,
                               cpu_milli = excluded.cpu_milli, memory_mib = excluded.memory_mib,
                                   pausing = excluded.pausing,
                               state_id = excluded.state_id,
                               last_heard = case when c.lost_at is null and c.lease_until < clock_timestamp()
                                   then c.last_heard
                                                 else excluded.last_heard end,
                               -- An expired lease stays expired until the leader has given the node up:
                               -- the attempts of that lease have ended.
                               lease_until = case when c.lost_at is null and c.lease_until < clock_timestamp()
                                   then c.lease_until
                                                  else excluded.lease_until end
                         where (c.instance_id <> excluded.instance_id or c.sequence < excluded.sequence) and not %s
                        returning c.lease_until > clock_timestamp() as leased, old.last_heard as heard_before,
                            (select lost_at is not null from before) as lost, not exists (select 1 from before)
                            as fresh,
                                  (select (b.cpu_milli, b.memory_mib, b.pausing, b.isolation)
                                          is distinct from (c.cpu_milli, c.memory_mib, c.pausing, c.isolation)
                                              from before b) as other
                        """.formatted(ANOTHERS.formatted("excluded.state_id", "excluded.boot_id")))
                .execute(Tuple.from(new Object[] {
                    node,
                    request.agentVersion(),
                    request.bootId(),
                    request.instanceId().toString(),
                    request.sequence(),
                    word(request.inventory().isolation()),
                    lease.toMillis(),
                    (long) request.inventory().cpuMilli(),
                    request.inventory().memoryMiB(),
                    pausing(request.inventory()),
                    request.stateId()
                }))
                .map(rows -> first(rows)
                        .map(row -> new Contact(
                                row.getBoolean("leased"),
                                Boolean.TRUE.equals(row.getBoolean("fresh"))
                                        || Boolean.TRUE.equals(row.getBoolean("lost"))
                                        || Boolean.TRUE.equals(row.getBoolean("other")),
                                row.getOffsetDateTime("heard_before"))));
    }

    private static @Nullable String pausing(Inventory inventory) {
        Inventory.Pausing pausing = inventory.pausing();
        return pausing == null ? null : word(pausing.by());
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Uni<Boolean> inventory(SqlConnection connection, UUID node, Inventory inventory) {
        JsonArray devices = new JsonArray();
        inventory
                .devices()
                .forEach(device -> devices.add(new JsonObject()
                        .put("device_index", device.index())
                        .put("uuid", device.uuid())
                        .put("model", device.model())
                        .put("memory_mib", Math.max(1, device.memoryMiB()))
                        .put("mig", device.migEnabled())
                        .put("healthy", device.healthy())));
        return connection
                .preparedQuery("""
                        with x as (select * from jsonb_to_recordset($2) as x(device_index int, uuid text, model text,
                            memory_mib bigint, mig boolean,
                                          healthy boolean)),
                        gone as (update gpu g set healthy = false
                                  where g.node_id = $1 and g.healthy and g.device_index not in (select device_index from x) returning 1),
                        now as (insert into gpu as g (node_id, device_index, uuid, model, memory_mib, mig, healthy)
                                select $1, device_index, uuid, model, memory_mib, mig, healthy from x
                                on conflict (node_id, device_index) do update set uuid = excluded.uuid,
                                    model = excluded.model,
                                       memory_mib = excluded.memory_mib, mig = excluded.mig, healthy = excluded.healthy
                                 where (g.uuid, g.model, g.memory_mib, g.mig, g.healthy)
                                       is distinct from (excluded.uuid, excluded.model, excluded.memory_mib,
                                           excluded.mig, excluded.healthy)
                                returning 1)
                        select (select count(*) from gone) + (select count(*) from now) as changed
                        """)
                .execute(Tuple.of(node, devices))
                .map(rows -> rows.iterator().next().getLong("changed") > 0);
    }

    private static Uni<Void> inboxNode(SqlConnection connection, UUID node) {
        return connection
                .preparedQuery("insert into inbox (kind, ref) values ('node', $1)")
                .execute(Tuple.of(node.toString()))
                .replaceWithVoid();
    }

    private static Uni<Boolean> reports(
            SqlConnection connection, UUID node, List<AttemptReport> attempts, @Nullable OffsetDateTime before) {
        if (attempts.isEmpty()) {
            return Uni.createFrom().item(false);
        }
        JsonArray said = new JsonArray();
        attempts.forEach(attempt -> said.add(report(attempt)));
        return connection
                .preparedQuery(REPORTS)
                .execute(Tuple.of(node, said, before))
                .map(rows -> rows.rowCount() > 0);
    }

    private static JsonObject report(AttemptReport attempt) {
        JsonObject json = new JsonObject()
                .put("id", attempt.attemptId().toString())
                .put("ended_ago_ms", attempt.endedAgoMillis());
        switch (attempt.state()) {
            case AttemptState.Starting() -> json.put("state", "starting");
            case AttemptState.Running running ->
                json.put("state", "running").put("started_ms", running.startedAtEpochMillis());
            case AttemptState.Stopping stopping ->
                json.put("state", "stopping").put("started_ms", stopping.startedAtEpochMillis());
            case AttemptState.Paused paused ->
                json.put("state", "paused").put("started_ms", paused.startedAtEpochMillis());
            case AttemptState.Ended ended ->
                json.put("state", "ended")
                        .put("outcome", word(ended.outcome()))
                        .put("exit_code", ended.exitCode())
                        .put("started_ms", ended.startedAtEpochMillis())
                        .put("ended_ms", ended.endedAtEpochMillis())
                        .put("message", printable(ended.detail()));
        }
        AttemptReport.LogTail log = attempt.log();
        if (log != null) {
            json.put("log_tail", printable(log.text())).put("log_bytes", log.totalBytes());
        }
        return json;
    }

    /** Removes NUL characters, which PostgreSQL's text cannot hold, from the output of a process. */
    private static String printable(String text) {
        return text.replace('\0', '\uFFFD');
    }

    /** The desired state of a node: the attempts that run or must stop, and those that stay paused. */
    record Wanted(List<AttemptOrder> attempts, List<UUID> paused) {}

    Uni<Wanted> wanted(UUID node) {
        return database.on(connection -> connection
                .preparedQuery(ORDERS)
                .execute(Tuple.of(node))
                .map(rows -> {
                    List<AttemptOrder> orders = new ArrayList<>();
                    List<UUID> paused = List.of();
                    for (Row row : rows) {
                        paused = List.of(row.getArrayOfUUIDs("paused"));
                        if (row.getUUID("id") != null) {
                            orders.add(order(row, node));
                        }
                    }
                    return new Wanted(orders, paused);
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
            int most = limitMilli == null ? part.getAsInt() : Math.max(part.getAsInt(), limitMilli);
            environment.put("QM_GPU_LIMIT", new GpuAmount(most).decimal());
            // Only NVIDIA's Multi-Process Service reads it, on nodes that run it.
            environment.put("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", Integer.toString((most + 9) / 10));
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

    private static Optional<Row> first(RowSet<Row> rows) {
        return rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next());
    }
}
