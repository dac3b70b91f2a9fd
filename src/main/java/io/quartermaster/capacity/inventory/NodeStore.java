package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.EnumNames;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The table {@code node}, together with the reports of agents; its queries skip retired nodes. */
@ApplicationScoped
class NodeStore {

    private static final String SELECT = """
            select n.id, n.name, k.name as cluster, p.name as pool, n.schedulable, n.cpu_milli, n.memory_mib,
                n.labels, n.topology,
                n.version, n.created_at, c.agent_version, c.isolation, c.pausing, c.last_heard, c.lost_at,
                    c.other_agent_seen_at,
                (select jsonb_agg(jsonb_build_object('index', g.device_index, 'uuid', g.uuid, 'model', g.model,
                        'memoryMiB', g.memory_mib, 'mig', g.mig, 'healthy', g.healthy) order by g.device_index)
                    from gpu g where g.node_id = n.id) as gpus
            from node n join cluster k on k.id = n.cluster_id join pool p on p.id = n.pool_id
                left join node_contact c on c.node_id = n.id
            where n.retired_at is null
            """;

    /** The keys by which nodes are looked up. */
    enum ParentColumn {
        CLUSTER("cluster_id"),
        POOL("pool_id");

        private final String column;

        ParentColumn(String column) {
            this.column = column;
        }
    }

    /** The filters of a list of nodes; null does not filter. */
    record Filter(
            @Nullable String cluster,
            @Nullable String pool,
            @Nullable Boolean schedulable) {}

    Uni<Optional<NodeApi.View>> find(SqlConnection connection, String name, RowLock rowLock) {
        String clause = rowLock == RowLock.NONE ? "" : rowLock.clause() + " of n";
        return connection
                .preparedQuery(SELECT + " and n.name = $1" + clause)
                .execute(Tuple.of(name))
                .map(rows -> RowValues.optional(rows, NodeStore::view));
    }

    Uni<List<NodeApi.View>> list(SqlConnection connection, Filter filter, String after, int max) {
        return connection
                .preparedQuery(SELECT + " and n.name > $1 and ($2::text is null or k.name = $2)"
                        + " and ($3::text is null or p.name = $3) and ($4::boolean is null or n.schedulable = $4)"
                        + " order by n.name limit $5")
                .execute(Tuple.of(after, filter.cluster(), filter.pool(), filter.schedulable(), max))
                .map(rows -> RowValues.list(rows, NodeStore::view));
    }

    Uni<List<String>> names(SqlConnection connection, ParentColumn parent, UUID id) {
        return connection
                .preparedQuery(
                        "select name from node where " + parent.column + " = $1 and retired_at is null order by name")
                .execute(Tuple.of(id))
                .map(rows -> RowValues.list(rows, row -> row.getString(0)));
    }

    Uni<Void> insert(SqlConnection connection, UUID id, String name, UUID cluster, UUID pool, NodeApi.Settings set) {
        return connection
                .preparedQuery(
                        "insert into node (id, name, cluster_id, pool_id, cpu_milli, memory_mib, labels, topology)"
                                + " values ($1, $2, $3, $4, $5, $6, $7, $8)")
                .execute(Tuple.tuple()
                        .addUUID(id)
                        .addString(name)
                        .addUUID(cluster)
                        .addUUID(pool)
                        .addLong(set.cpuMilli())
                        .addLong(set.memoryMiB())
                        .addValue(json(set.labels()))
                        .addArrayOfString(set.topology().toArray(String[]::new)))
                .replaceWithVoid();
    }

    Uni<Void> update(SqlConnection connection, UUID id, UUID pool, NodeApi.Settings set) {
        return connection
                .preparedQuery(
                        "update node set pool_id = $2, schedulable = $3, cpu_milli = $4, memory_mib = $5, labels = $6,"
                                + " topology = $7, version = version + 1 where id = $1")
                .execute(Tuple.tuple()
                        .addUUID(id)
                        .addUUID(pool)
                        .addBoolean(set.schedulable())
                        .addLong(set.cpuMilli())
                        .addLong(set.memoryMiB())
                        .addValue(json(set.labels()))
                        .addArrayOfString(set.topology().toArray(String[]::new)))
                .replaceWithVoid();
    }

    Uni<Void> retire(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("update node set retired_at = clock_timestamp(), version = version + 1 where id = $1")
                .execute(Tuple.of(id))
                .replaceWithVoid();
    }

    /** Whether a retired node had this name. */
    Uni<Boolean> wasRetired(SqlConnection connection, String name) {
        return connection
                .preparedQuery("select exists (select from node where name = $1 and retired_at is not null)")
                .execute(Tuple.of(name))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** The number of attempts that hold devices of the node. */
    Uni<Long> holders(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery(
                        "select count(distinct attempt_id) from allocation_device where node_id = $1 and freed_at "
                                + "is null")
                .execute(Tuple.of(id))
                .map(rows -> rows.iterator().next().getLong(0));
    }

    private static JsonObject json(Map<String, String> labels) {
        JsonObject object = new JsonObject();
        new TreeMap<>(labels).forEach(object::put);
        return object;
    }

    private static NodeApi.View view(Row row) {
        String heardVersion = row.getString("agent_version");
        NodeApi.Agent agent = heardVersion == null
                ? null
                : new NodeApi.Agent(
                        heardVersion,
                        EnumNames.stored(NodeIsolation.class, row.getString("isolation")),
                        row.getString("pausing"),
                        row.getOffsetDateTime("last_heard").toInstant(),
                        instant(row.getOffsetDateTime("other_agent_seen_at")));
        return new NodeApi.View(
                row.getUUID("id"),
                row.getString("name"),
                row.getString("cluster"),
                row.getString("pool"),
                row.getBoolean("schedulable"),
                contact(agent != null, row.getOffsetDateTime("lost_at") != null),
                row.getLong("cpu_milli"),
                row.getLong("memory_mib"),
                labels(row.getJsonObject("labels")),
                List.of(row.getArrayOfStrings("topology")),
                agent,
                gpus(row.getJsonArray("gpus")),
                row.getLong("version"),
                row.getOffsetDateTime("created_at").toInstant(),
                null);
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }

    private static NodeApi.Contact contact(boolean heard, boolean lost) {
        if (!heard) {
            return NodeApi.Contact.NEVER_HEARD;
        }
        return lost ? NodeApi.Contact.LOST : NodeApi.Contact.UP;
    }

    private static Map<String, String> labels(JsonObject stored) {
        Map<String, String> labels = new TreeMap<>();
        stored.forEach(entry -> labels.put(entry.getKey(), String.valueOf(entry.getValue())));
        return labels;
    }

    private static List<NodeApi.Gpu> gpus(@Nullable JsonArray reported) {
        if (reported == null) {
            return List.of();
        }
        return reported.stream()
                .map(JsonObject.class::cast)
                .map(gpu -> new NodeApi.Gpu(
                        gpu.getInteger("index"),
                        gpu.getString("uuid"),
                        gpu.getString("model"),
                        gpu.getLong("memoryMiB"),
                        gpu.getBoolean("mig"),
                        gpu.getBoolean("healthy")))
                .toList();
    }
}
