package io.quartermaster.dispatch;

import io.quartermaster.engine.benchmark.BenchmarkCell;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.metering.Superuser;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes a representative cell into the tables, as the API and the agents would have written it. */
final class StoredCell {

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int CHUNK = 5_000;

    private final SystemDatabase database;
    private final BenchmarkCell cell;
    private final long nowMillis;
    private final Map<PoolId, UUID> pools = new HashMap<>();
    private final Map<QuotaPath, UUID> policies = new HashMap<>();
    private final Map<ProfileId, UUID> profiles = new LinkedHashMap<>();
    private final Map<QueueId, UUID> queues = new LinkedHashMap<>();

    StoredCell(SystemDatabase database, BenchmarkCell cell, long nowMillis) {
        this.database = database;
        this.cell = cell;
        this.nowMillis = nowMillis;
    }

    void write() {
        pools();
        nodes();
        quotas();
        workloads();
    }

    private void pools() {
        JsonArray rows = new JsonArray();
        for (Change change : cell.base()) {
            if (change instanceof Change.PoolSet(Pool pool)) {
                UUID id = Ids.next();
                pools.put(pool.id(), id);
                rows.add(new JsonObject()
                        .put("id", id.toString())
                        .put("name", pool.id().value()));
            }
        }
        insert("""
                insert into pool (id, name, topology_levels) select id, name, '{block,rack}'
                  from jsonb_to_recordset($1) as x(id uuid, name text)
                """, rows);
    }

    private void nodes() {
        UUID cluster = Ids.next();
        insert("""
                insert into cluster (id, name, kind, region)
                select id, 'representative', 'agent', 'here' from jsonb_to_recordset($1) as x(id uuid)
                """, new JsonArray().add(new JsonObject().put("id", cluster.toString())));
        JsonArray nodes = new JsonArray();
        JsonArray gpus = new JsonArray();
        for (Change change : cell.base()) {
            if (change instanceof Change.NodeSet(Node node)) {
                UUID id = Ids.next();
                nodes.add(new JsonObject()
                        .put("id", id.toString())
                        .put("name", node.id().value())
                        .put("cluster", cluster.toString())
                        .put("pool", poolId(node.pool()).toString())
                        .put("cpu", node.cpuMilli().orElseThrow())
                        .put("memory", node.memoryMiB().orElseThrow())
                        .put("topology", new JsonArray(node.topology())));
                node.devices()
                        .forEach(device -> gpus.add(new JsonObject()
                                .put("node", id.toString())
                                .put("device", device.index())
                                .put("uuid", node.id().value() + "-" + device.index())
                                .put("model", device.model())
                                .put("memory", device.memoryMiB())));
            }
        }
        insert("""
                insert into node (id, name, cluster_id, pool_id, cpu_milli, memory_mib, topology)
                select id, name, cluster, pool, cpu, memory, topology
                  from jsonb_to_recordset($1) as x(id uuid, name text, cluster uuid, pool uuid, cpu bigint,
                      memory bigint, topology text[])
                """, nodes);
        insert("""
                insert into gpu (node_id, device_index, uuid, model, memory_mib)
                select node, device, uuid, model, memory
                  from jsonb_to_recordset($1) as x(node uuid, device int, uuid text, model text, memory bigint)
                """, gpus);
        insert("""
                insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard,
                    lease_until)
                select id, '1', 'b', 'i', 'container', clock_timestamp(), clock_timestamp() + interval '1 day'
                  from jsonb_to_recordset($1) as x(id uuid)
                """, nodes);
    }

    /** Tenants with their allotments, and policies of groups and subgroups with their quotas. */
    private void quotas() {
        Set<String> seen = new HashSet<>();
        JsonArray tenants = new JsonArray();
        JsonArray allotments = new JsonArray();
        JsonArray groups = new JsonArray();
        JsonArray quotas = new JsonArray();
        for (Change change : cell.base()) {
            if (!(change instanceof Change.QuotaSet(Quota quota))) {
                continue;
            }
            QuotaPath path = quota.path();
            String tenant = path.tenant();
            JsonObject terms = new JsonObject()
                    .put("tenant", tenant)
                    .put("pool", poolId(new PoolId(quota.scope().toString())).toString())
                    .put("reserved", quota.reservedGpuMilli())
                    .put(
                            "most",
                            quota.limitGpuMilli().isPresent()
                                    ? quota.limitGpuMilli().getAsLong()
                                    : null)
                    .put("weight", quota.weightMilli().orElseThrow() / 1_000)
                    .put("lendable", quota.lendableGpuMilli().orElseThrow())
                    .put("rank", quota.rank());
            List<String> below = path.segments().subList(1, path.segments().size());
            if (below.isEmpty()) {
                allotments.add(terms);
                if (seen.add(tenant)) {
                    tenants.add(new JsonObject().put("tenant", tenant));
                }
            } else {
                if (!policies.containsKey(path)) {
                    policies.put(path, Ids.next());
                    groups.add(new JsonObject()
                            .put("tenant", tenant)
                            .put("id", policy(path).toString())
                            .put("name", String.join("-", below))
                            .put("path", "/" + String.join("/", below))
                            .put("over", quota.overQuota()));
                }
                quotas.add(terms.put("policy", policy(path).toString()));
            }
        }
        insert("""
                insert into tenant (id, display_name, plan, realm, issuer, state)
                select tenant, tenant, 'standard', tenant, 'test:' || tenant, 'active'
                  from jsonb_to_recordset($1) as x(tenant text)
                """, tenants);
        insert("""
                insert into allotment (tenant_id, pool_id, reserved_milli, limit_milli, weight, lendable_milli, rank)
                select tenant, pool, reserved, most, weight, lendable, rank
                  from jsonb_to_recordset($1) as x(tenant text, pool uuid, reserved bigint, most bigint, weight int,
                      lendable bigint, rank int)
                """, allotments);
        insert("""
                insert into policy (tenant_id, id, name, group_path, over_quota)
                select tenant, id, name, path, "over"
                  from jsonb_to_recordset($1) as x(tenant text, id uuid, name text, path text, "over" boolean)
                """, groups);
        insert("""
                insert into policy_quota (tenant_id, policy_id, pool_id, reserved_milli, limit_milli, weight,
                    lendable_milli, rank)
                select tenant, policy, pool, reserved, most, weight, lendable, rank
                  from jsonb_to_recordset($1) as x(tenant text, policy uuid, pool uuid, reserved bigint, most bigint,
                      weight int, lendable bigint, rank int)
                """, quotas);
    }

    private void workloads() {
        JsonArray profileRows = new JsonArray();
        JsonArray queueRows = new JsonArray();
        JsonArray rows = new JsonArray();
        for (Workload workload : cell.waiting()) {
            String tenant = workload.path().tenant();
            ProfileId profile = workload.profile().orElseThrow();
            QueueId queue = workload.queue().orElseThrow();
            if (!profiles.containsKey(profile)) {
                profiles.put(profile, Ids.next());
                profileRows.add(profile(workload, profile));
            }
            if (!queues.containsKey(queue)) {
                queues.put(queue, Ids.next());
                queueRows.add(new JsonObject()
                        .put("tenant", tenant)
                        .put("id", id(queues, queue).toString())
                        .put("name", "q" + queues.size())
                        .put("policy", policy(workload.path()).toString())
                        .put("profile", id(profiles, profile).toString()));
            }
            rows.add(new JsonObject()
                    .put("tenant", tenant)
                    .put("id", Ids.next().toString())
                    .put("name", workload.id().value())
                    .put("queue", id(queues, queue).toString())
                    .put("policy", policy(workload.path()).toString())
                    .put("profile", id(profiles, profile).toString())
                    .put("username", workload.user().orElseThrow())
                    .put("priority", workload.priority())
                    .put("preemptible", workload.preemptible())
                    .put(
                            "runtime",
                            workload.maxRuntimeMillis().isPresent()
                                    ? workload.maxRuntimeMillis().getAsLong()
                                    : null)
                    .put("age", cell.beginMillis() - workload.submittedMillis()));
        }
        insert("""
                insert into profile (tenant_id, id, name, gpu_milli, gpu_devices, workers, min_workers, cpu_milli,
                    memory_mib, required_level, preferred_level, pool_ids)
                select tenant, id, name, milli, devices, workers, workers, cpu, memory, required, preferred, pools
                  from jsonb_to_recordset($1) as x(tenant text, id uuid, name text, milli bigint, devices int,
                      workers int, cpu bigint, memory bigint, required text, preferred text, pools uuid[])
                """, profileRows);
        insert("""
                insert into queue (tenant_id, id, name, policy_id, profile_id)
                select tenant, id, name, policy, profile
                  from jsonb_to_recordset($1) as x(tenant text, id uuid, name text, policy uuid, profile uuid)
                """, queueRows);
        insert("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    submitter, priority, preemptible, command, max_runtime_ms, submitted_at)
                select tenant, id, name, 'training', queue, policy, profile, username, username, priority, preemptible,
                    '["python", "train.py", "--epochs", "100"]', runtime,
                    timestamptz 'epoch' + ($2::bigint - age) * interval '1 millisecond'
                  from jsonb_to_recordset($1) as x(tenant text, id uuid, name text, queue uuid, policy uuid,
                      profile uuid, username text, priority int, preemptible boolean, runtime bigint, age bigint)
                """, rows, nowMillis);
        Superuser.run("analyze");
    }

    private JsonObject profile(Workload workload, ProfileId id) {
        Shape shape = workload.shape();
        JsonArray ofPools = new JsonArray();
        workload.pools().forEach(pool -> ofPools.add(poolId(pool).toString()));
        long milli =
                switch (shape.gpus()) {
                    case GpuRequest.Whole whole -> whole.count() * 1_000L;
                    case GpuRequest.Fraction part -> part.devices() * (long) part.gpuMilliEach();
                    case GpuRequest.Memory memory -> throw new IllegalArgumentException("unexpected: " + memory);
                    case GpuRequest.Mig mig -> throw new IllegalArgumentException("unexpected: " + mig);
                };
        return new JsonObject()
                .put("tenant", workload.path().tenant())
                .put("id", id(profiles, id).toString())
                .put("name", id.value())
                .put("milli", milli)
                .put("devices", 1)
                .put("workers", shape.workers())
                .put("cpu", shape.cpuMilli())
                .put("memory", shape.memoryMiB())
                .put("required", shape.requiredLevel().orElse(null))
                .put("preferred", shape.preferredLevel().orElse(null))
                .put("pools", ofPools);
    }

    private void insert(String sql, JsonArray rows, @Nullable Object... more) {
        for (int from = 0; from < rows.size(); from += CHUNK) {
            JsonArray chunk = new JsonArray(rows.getList().subList(from, Math.min(rows.size(), from + CHUNK)));
            Object[] parameters = new Object[more.length + 1];
            parameters[0] = chunk;
            System.arraycopy(more, 0, parameters, 1, more.length);
            database.run(LONG, tx -> tx.run(sql, parameters));
        }
    }

    private UUID poolId(PoolId pool) {
        return id(pools, pool);
    }

    private UUID policy(QuotaPath path) {
        return id(policies, path);
    }

    private static <K> UUID id(Map<K, UUID> ids, K key) {
        return Objects.requireNonNull(ids.get(key));
    }
}
