package io.quartermaster.dispatch.read;

import io.quartermaster.capacity.inventory.PoolHours;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Pools and nodes as the engine needs them. The engine knows pools by name, which is never reused, and nodes by id. */
public final class CapacityFacts {

    /**
     * @param maxGraceMillis the longest time that a stopping attempt in it keeps its devices
     * @param retired whether the pool is retired
     */
    public record PoolFact(UUID id, Pool pool, long maxGraceMillis, boolean retired) {}

    /**
     * @param node it is up only while its lease runs and it is not given up
     * @param pauses whether its agent can pause processes and free their devices
     * @param heardAgain whether it was given up and its lease runs again: it is up once that loss is revoked
     */
    public record NodeFact(
            UUID id, String name, String cluster, Node node, boolean retired, boolean pauses, boolean heardAgain) {

        /** The node after its loss is revoked. */
        public NodeFact withoutLoss() {
            return new NodeFact(id, name, cluster, node.notDown(), retired, pauses, false);
        }
    }

    /** A pool without nodes does not lack an executor: it lacks nodes. */
    private static final String POOLS = """
            select p.*, coalesce((select bool_or(k.kind in ('agent', 'simulated')) from node n
                join cluster k on k.id = n.cluster_id
                                   where n.pool_id = p.id and n.retired_at is null), true) as connected
              from pool p where $1::uuid[] is null or p.id = any($1) order by p.name
            """;

    /** The pools that have an executor. */
    public enum Executors {
        /** Pools with a node in a cluster whose kind is connected. */
        AGENTS,
        /** Those pools and the plain counts, as if an executor ran work in them. */
        AGENTS_AND_COUNTS;

        static Executors of(DispatchConfig config) {
            return config.simulateCountedPools() ? AGENTS_AND_COUNTS : AGENTS;
        }
    }

    private CapacityFacts() {}

    public static List<PoolFact> pools(SystemTransaction transaction, Executors executors, UUID @Nullable [] only) {
        List<PoolFact> facts = new ArrayList<>();
        QuarantinedWorkloads quarantined = QuarantinedWorkloads.read(transaction);
        for (Row row : transaction.run(POOLS, (Object) only)) {
            PoolId id = new PoolId(row.getString("name"));
            Long count = row.getLong("capacity_milli");
            Pool plain = count == null
                    ? Pool.ofNodes(id)
                    : Pool.ofCount(id, Math.max(0, count - quarantined.counted().getOrDefault(row.getUUID("id"), 0L)));
            Pool pool = new Pool(
                            id,
                            plain.capacity(),
                            Pool.Placement.valueOf(word(row, "placement")),
                            Pool.Sharing.valueOf(word(row, "share_gpus")),
                            Arrays.stream(row.getArrayOfStrings("profile_order"))
                                    .map(ProfileId::new)
                                    .toList(),
                            List.of(row.getArrayOfStrings("topology_levels")),
                            true)
                    .waitingBeforePreempting(row.getLong("wait_before_preempting_ms"));
            boolean runs = count == null ? row.getBoolean("connected") : executors == Executors.AGENTS_AND_COUNTS;
            Pool known = runs ? pool : pool.withoutExecutor();
            facts.add(new PoolFact(
                    row.getUUID("id"),
                    PoolHours.stored(row.getJsonObject("hours"))
                            .map(known::withHours)
                            .orElse(known),
                    row.getLong("max_grace_ms"),
                    row.getOffsetDateTime("retired_at") != null));
        }
        return facts;
    }

    /** The pools of these nodes. */
    public static Set<UUID> poolsOf(SystemTransaction transaction, Set<UUID> nodes) {
        Set<UUID> pools = new TreeSet<>();
        if (!nodes.isEmpty()) {
            transaction
                    .run("select distinct pool_id from node where id = any($1)", (Object) CellReader.array(nodes))
                    .forEach(row -> pools.add(row.getUUID("pool_id")));
        }
        return pools;
    }

    /**
     * The nodes in these pools that do not isolate tenants. Which tenants may start there depends on the pool and its
     * allotments.
     */
    public static Set<UUID> unisolatedNodesOf(SystemTransaction transaction, Set<UUID> pools) {
        Set<UUID> nodes = new TreeSet<>();
        if (!pools.isEmpty()) {
            transaction
                    .run(
                            "select n.id from node n join node_contact c on c.node_id = n.id"
                                    + " where n.pool_id = any($1) and n.retired_at is null and c.isolation <> "
                                    + "'container'",
                            (Object) CellReader.array(pools))
                    .forEach(row -> nodes.add(row.getUUID("id")));
        }
        return nodes;
    }

    public static List<NodeFact> nodes(SystemTransaction transaction, OffsetDateTime stamp, UUID @Nullable [] only) {
        Map<UUID, List<Node.Device>> devices = new HashMap<>();
        QuarantinedWorkloads quarantined = QuarantinedWorkloads.read(transaction);
        for (Row row : transaction.run(
                "select * from gpu where healthy and ($1::uuid[] is null or node_id = any($1)) order by node_id, "
                        + "device_index",
                (Object) only)) {
            int index = row.getInteger("device_index");
            if (!quarantined.isHeld(row.getUUID("node_id"), index)) {
                devices.computeIfAbsent(row.getUUID("node_id"), id -> new ArrayList<>())
                        .add(new Node.Device(
                                index, row.getString("model"), row.getLong("memory_mib"), row.getBoolean("mig")));
            }
        }
        List<NodeFact> facts = new ArrayList<>();
        for (Row row : transaction.run("""
                select n.*, p.name as pool_name, k.name as cluster_name, c.lease_until, c.lost_at, c.pausing,
                       case when c.isolation <> 'container' and not p.tenants_trust_each_other
                                 and (select count(*) > 1 from allotment a where a.pool_id = p.id)
                            then (select a.tenant_id from allotment a where a.pool_id = p.id order by a.granted_at,
                                a.tenant_id limit 1)
                       end as only_tenant,
                       coalesce(n.cpu_milli, c.cpu_milli) as cpu_known, coalesce(n.memory_mib, c.memory_mib)
                           as memory_known from node n
                  join pool p on p.id = n.pool_id join cluster k on k.id = n.cluster_id left
                      join node_contact c on c.node_id = n.id
                 where $1::uuid[] is null or n.id = any($1) order by n.name, n.id
                """, (Object) only)) {
            facts.add(node(row, stamp, devices, quarantined.partOf(row.getUUID("id"))));
        }
        return facts;
    }

    /** @param quarantined the part of the machine that quarantined workloads hold */
    private static NodeFact node(
            Row row,
            OffsetDateTime stamp,
            Map<UUID, List<Node.Device>> devices,
            QuarantinedWorkloads.Part quarantined) {
        UUID id = row.getUUID("id");
        OffsetDateTime leaseUntil = row.getOffsetDateTime("lease_until");
        boolean leased = leaseUntil != null && leaseUntil.isAfter(stamp);
        boolean givenUp = row.getOffsetDateTime("lost_at") != null;
        SortedMap<String, String> labels = new TreeMap<>();
        JsonObject stored = row.getJsonObject("labels");
        stored.forEach(entry -> labels.put(entry.getKey(), String.valueOf(entry.getValue())));
        Node node = new Node(
                new NodeId(id.toString()),
                new PoolId(row.getString("pool_name")),
                leased && !givenUp,
                row.getBoolean("schedulable"),
                List.copyOf(devices.getOrDefault(id, List.of())),
                subtract(row.getLong("cpu_known"), quarantined.cpuMilli()),
                subtract(row.getLong("memory_known"), quarantined.memoryMiB()),
                labels,
                List.of(Objects.requireNonNull(row.getArrayOfStrings("topology"))),
                // If several tenants use the pool, a node that does not isolate tenants serves the first of them.
                Optional.ofNullable(row.getString("only_tenant")));
        return new NodeFact(
                id,
                row.getString("name"),
                row.getString("cluster_name"),
                node,
                row.getOffsetDateTime("retired_at") != null,
                row.getString("pausing") != null,
                givenUp && leased);
    }

    private static String word(Row row, String column) {
        return row.getString(column).toUpperCase(Locale.ROOT);
    }

    private static OptionalLong subtract(@Nullable Long known, long taken) {
        return known == null ? OptionalLong.empty() : OptionalLong.of(Math.max(0, known - taken));
    }
}
