package io.quartermaster.capacity.inventory;

import io.quartermaster.engine.model.Pool;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.GpuAmount;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The table {@code pool}, together with the sums of its nodes and allotments; its queries skip retired pools. */
@ApplicationScoped
public class PoolStore {

    private static final Duration HARDWARE_USE = Duration.ofSeconds(10);

    private final Map<UUID, ReadHardware> hardware = new ConcurrentHashMap<>();

    private static final String SELECT = """
            select p.id, p.name, p.placement, p.share_gpus, p.capacity_milli, p.elastic, p.topology_levels, p.hours,
                p.profile_order, p.wait_before_preempting_ms, p.max_grace_ms, p.tenants_trust_each_other, p.version, p.created_at,
                coalesce((select sum(a.reserved_milli) from allotment a where a.pool_id = p.id), 0)::bigint
                    as reserved_milli,
                (select count(*) from node n where n.pool_id = p.id and n.retired_at is null)::int as nodes,
                (select count(*) from node n join node_contact c on c.node_id = n.id
                    where n.pool_id = p.id and n.retired_at is null and c.lost_at is null)::int as nodes_up,
                coalesce(p.capacity_milli, (select count(*) * 1000 from node n join node_contact c on c.node_id = n.id
                    join gpu g on g.node_id = n.id and g.healthy
                    where n.pool_id = p.id and n.retired_at is null and c.lost_at is null))::bigint as up_milli
            from pool p where p.retired_at is null
            """;

    /** Broken GPUs and lost nodes do not count; cordoned nodes do. */
    private static final String HARDWARE = """
            with sized as (
                select n.pool_id, n.id, n.schedulable, coalesce(n.cpu_milli, c.cpu_milli) as cpu_milli,
                       coalesce(n.memory_mib, c.memory_mib) as memory_mib, coalesce(g.gpus, 0)::int as gpus
                  from node n join node_contact c on c.node_id = n.id and c.lost_at is null
                  left join (select node_id, count(*) as gpus from gpu where healthy group by node_id) g
                    on g.node_id = n.id
                 where n.pool_id = any($1) and n.retired_at is null),
            largest as (
                select distinct on (pool_id) * from sized
                 order by pool_id, gpus desc, cpu_milli desc nulls last, memory_mib desc nulls last),
            kinds as (
                select distinct n.pool_id, g.model, g.memory_mib, g.mig from node n join gpu g on g.node_id = n.id
                 where n.pool_id = any($1) and n.retired_at is null and g.healthy)
            select p.id, p.hours, l.gpus, l.cpu_milli, l.memory_mib,
                   coalesce((select jsonb_agg(jsonb_build_object(
                               'model', k.model, 'memoryMiB', k.memory_mib, 'mig', k.mig))
                          from kinds k where k.pool_id = p.id), '[]') as kinds,
                   exists (select 1 from node n where n.pool_id = p.id and n.retired_at is null)
                       and not exists (select 1 from sized s where s.pool_id = p.id and s.schedulable) as maintenance
              from pool p left join largest l on l.pool_id = p.id
             where p.id = any($1)
            """;

    public Uni<Optional<PoolApi.View>> find(SqlConnection connection, String name, RowLock rowLock) {
        return connection
                .preparedQuery(SELECT + " and p.name = $1" + rowLock.clause())
                .execute(Tuple.of(name))
                .map(rows -> RowValues.optional(rows, PoolStore::view));
    }

    Uni<List<PoolApi.View>> list(SqlConnection connection, String after, int max) {
        return connection
                .preparedQuery(SELECT + " and p.name > $1 order by p.name limit $2")
                .execute(Tuple.of(after, max))
                .map(rows -> RowValues.list(rows, PoolStore::view));
    }

    /** The hardware of pools, by id. It seldom changes, so it is read again only after {@link #HARDWARE_USE}. */
    public Uni<Map<UUID, PoolApi.Hardware>> hardware(SqlConnection connection, Collection<UUID> ids) {
        Map<UUID, PoolApi.Hardware> known = new HashMap<>();
        List<UUID> due = new ArrayList<>();
        long oldest = System.nanoTime() - HARDWARE_USE.toNanos();
        for (UUID id : ids) {
            ReadHardware read = hardware.get(id);
            if (read != null && read.atNanos() - oldest >= 0) {
                known.put(id, read.hardware());
            } else {
                due.add(id);
            }
        }
        return due.isEmpty()
                ? Uni.createFrom().item(known)
                : connection
                        .preparedQuery(HARDWARE)
                        .execute(Tuple.of(due.toArray(UUID[]::new)))
                        .map(rows -> {
                            for (Row row : rows) {
                                PoolApi.Hardware read = hardware(row);
                                known.put(row.getUUID("id"), read);
                                hardware.put(row.getUUID("id"), new ReadHardware(read, System.nanoTime()));
                            }
                            return known;
                        });
    }

    private record ReadHardware(PoolApi.Hardware hardware, long atNanos) {}

    private static PoolApi.Hardware hardware(Row row) {
        List<PoolApi.GpuKind> kinds = new ArrayList<>();
        for (Object kind : row.getJsonArray("kinds")) {
            JsonObject of = (JsonObject) kind;
            kinds.add(new PoolApi.GpuKind(of.getString("model"), of.getLong("memoryMiB"), of.getBoolean("mig")));
        }
        kinds.sort(Comparator.comparing(PoolApi.GpuKind::model)
                .thenComparing(PoolApi.GpuKind::memoryMiB)
                .thenComparing(PoolApi.GpuKind::mig));
        Integer largest = row.getInteger("gpus");
        return new PoolApi.Hardware(
                PoolHours.fromJson(row.getJsonObject("hours")),
                kinds,
                largest == null
                        ? null
                        : new PoolApi.LargestNode(largest, row.getLong("cpu_milli"), row.getLong("memory_mib")),
                row.getBoolean("maintenance"));
    }

    /** Whether any pool ever had the name. Stored usage refers to pools by name, so a name is never used twice. */
    Uni<Boolean> wasUsed(SqlConnection connection, String name) {
        return connection
                .preparedQuery("select 1 from pool where name = $1")
                .execute(Tuple.of(name))
                .map(rows -> rows.size() > 0);
    }

    Uni<Void> insert(SqlConnection connection, UUID id, String name, PoolApi.Settings settings) {
        return connection
                .preparedQuery("insert into pool (id, name, placement, share_gpus, capacity_milli, elastic, "
                        + "topology_levels, hours, wait_before_preempting_ms,"
                        + " max_grace_ms, tenants_trust_each_other, profile_order) values ($1, $2, $3, $4, $5, $6, "
                        + "$7, $8, $9, $10, $11, $12)")
                .execute(tuple(id, name, settings))
                .replaceWithVoid();
    }

    Uni<Void> update(SqlConnection connection, UUID id, String name, PoolApi.Settings settings) {
        return connection
                .preparedQuery("update pool set placement = $3, share_gpus = $4, capacity_milli = $5, elastic = $6, "
                        + "topology_levels = $7, hours = $8, wait_before_preempting_ms = $9, max_grace_ms = $10, "
                        + "tenants_trust_each_other = $11, profile_order = $12,"
                        + " version = version + 1 where id = $1 and name = $2")
                .execute(tuple(id, name, settings))
                .replaceWithVoid();
    }

    Uni<Void> retire(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("update pool set retired_at = clock_timestamp(), version = version + 1 where id = $1")
                .execute(Tuple.of(id))
                .replaceWithVoid();
    }

    /** The number of attempts that hold a part of the pool. */
    Uni<Long> attempts(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("select count(*) as held from attempt where pool_id = $1 and state <> 'ended'")
                .execute(Tuple.of(id))
                .map(rows -> rows.iterator().next().getLong("held"));
    }

    /** Whether the pool is not retired. */
    public Uni<Boolean> isLive(SqlConnection connection, UUID id) {
        return connection
                .preparedQuery("select 1 from pool where id = $1 and retired_at is null")
                .execute(Tuple.of(id))
                .map(rows -> rows.size() > 0);
    }

    /** Tenants with an allotment in the pool, by name. */
    Uni<List<String>> tenants(SqlConnection connection, UUID pool) {
        return connection
                .preparedQuery("select tenant_id from allotment where pool_id = $1 order by tenant_id")
                .execute(Tuple.of(pool))
                .map(rows -> RowValues.list(rows, row -> row.getString(0)));
    }

    /**
     * Profiles that name one of these levels and would find it in none of their pools any more, each after its tenant.
     */
    Uni<List<String>> profilesWithout(SqlConnection connection, UUID pool, Collection<String> levels) {
        return connection
                .preparedQuery("""
                        select f.tenant_id || ' ' || f.name from profile f
                         where f.retired_at is null and $1 = any(f.pool_ids) and exists (
                                select 1 from unnest(array[f.required_level, f.preferred_level,
                                    f.slice_level]) named(level)
                                 where named.level = any($2) and not exists (
                                       select 1 from pool o where o.id = any(f.pool_ids) and o.id <> $1
                                           and named.level = any(o.topology_levels)))
                         order by 1
                        """)
                .execute(Tuple.of(pool, levels.toArray(String[]::new)))
                .map(rows -> RowValues.list(rows, row -> row.getString(0)));
    }

    /** Whether the operator states that tenants of the pool may share nodes that do not isolate them. */
    Uni<Boolean> tenantsTrustEachOther(SqlConnection connection, UUID pool) {
        return connection
                .preparedQuery("select tenants_trust_each_other from pool where id = $1")
                .execute(Tuple.of(pool))
                .map(rows -> rows.iterator().next().getBoolean(0));
    }

    /** Nodes of the pool whose agents report that they cannot isolate tenants, by name. */
    Uni<List<String>> unisolatedNodes(SqlConnection connection, UUID pool) {
        return connection
                .preparedQuery("select n.name from node n join node_contact c on c.node_id = n.id"
                        + " where n.pool_id = $1 and n.retired_at is null and c.isolation <> 'container' "
                        + "order by n.name")
                .execute(Tuple.of(pool))
                .map(rows -> RowValues.list(rows, row -> row.getString(0)));
    }

    private static Tuple tuple(UUID id, String name, PoolApi.Settings settings) {
        GpuAmount capacity = settings.capacity();
        return Tuple.of(
                        id,
                        name,
                        EnumNames.of(settings.placement()),
                        EnumNames.of(settings.shareGpus()),
                        capacity == null ? null : capacity.milli(),
                        settings.elastic())
                .addArrayOfString(settings.topologyLevels().toArray(String[]::new))
                .addValue(PoolHours.toJson(settings.hours()))
                .addLong(settings.waitBeforePreempting().toMillis())
                .addLong(settings.maxGrace().toMillis())
                .addBoolean(settings.tenantsTrustEachOther())
                .addArrayOfString(settings.profileOrder().toArray(String[]::new));
    }

    private static PoolApi.View view(Row row) {
        return new PoolApi.View(
                row.getUUID("id"),
                row.getString("name"),
                EnumNames.stored(Pool.Placement.class, row.getString("placement")),
                EnumNames.stored(Pool.Sharing.class, row.getString("share_gpus")),
                amount(row.getLong("capacity_milli")),
                row.getBoolean("elastic"),
                List.of(row.getArrayOfStrings("topology_levels")),
                List.of(row.getArrayOfStrings("profile_order")),
                PoolHours.fromJson(row.getJsonObject("hours")),
                Duration.ofMillis(row.getLong("wait_before_preempting_ms")),
                Duration.ofMillis(row.getLong("max_grace_ms")),
                row.getBoolean("tenants_trust_each_other"),
                new GpuAmount(row.getLong("up_milli")),
                new GpuAmount(row.getLong("reserved_milli")),
                row.getInteger("nodes"),
                row.getInteger("nodes_up"),
                row.getLong("version"),
                row.getOffsetDateTime("created_at").toInstant());
    }

    private static @Nullable GpuAmount amount(@Nullable Long milli) {
        return milli == null ? null : new GpuAmount(milli);
    }
}
