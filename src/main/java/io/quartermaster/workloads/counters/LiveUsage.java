package io.quartermaster.workloads.counters;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.redis.RedisScriptRunner;
import io.quartermaster.platform.redis.RedisScriptRunner.RedisUnavailable;
import io.quartermaster.workloads.counters.CounterField.Amount;
import io.quartermaster.workloads.counters.CounterField.Measure;
import io.quartermaster.workloads.counters.CounterField.Waiting;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.redis.client.Response;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * The current usage of a tenant: from the leader's counters in Redis, or, if they are missing, counted in PostgreSQL by
 * the same rules.
 */
@ApplicationScoped
class LiveUsage {

    private static final String NAMES = """
            select cast(json_build_object(
                'pools', (select coalesce(json_object_agg(p.id, p.name), '{}') from pool p),
                'queues', (select coalesce(json_object_agg(q.id, q.name), '{}') from queue q
                    where q.tenant_id = :tenant),
                'open', (select coalesce(json_agg(q.id), '[]') from queue q where q.tenant_id = :tenant
                    and q.retired_at is null),
                'quotas', (select coalesce(json_agg(json_build_object('policy', x.policy_id, 'pool', x.pool_id)),
                    '[]') from (
                       select null as policy_id, a.pool_id from allotment a where a.tenant_id = :tenant union all
                       select c.policy_id, c.pool_id from policy_quota c
                           join policy p on p.tenant_id = c.tenant_id and p.id = c.policy_id
                        where c.tenant_id = :tenant and c.pool_id is not null and p.retired_at is null) x),
                'policies', (select coalesce(json_object_agg(p.id, json_build_array(p.name, p.group_path)), '{}')
                               from policy p where p.tenant_id = :tenant)) as text)
            """;

    private static final String FACTS = """
            with share as materialized (
                select f.id, x.place, waiting_gpu_milli(x.id, f.gpu_memory_mib, f.gpu_devices) as gpu_milli
                  from profile f cross join unnest(f.pool_ids) with ordinality as x(id, place)
                 where f.tenant_id = :tenant and f.gpu_memory_mib is not null)
            select cast(json_build_object(
                'at', clock_timestamp(),
                'reserved', (select coalesce(json_object_agg(a.pool_id, a.reserved_milli), '{}')
                    from allotment a where a.tenant_id = :tenant),
                'policies', (select coalesce(json_agg(json_build_object('id', p.id, 'group', p.group_path, 'reserved',
                       (select coalesce(json_object_agg(c.pool_id,
                           c.reserved_milli) filter (where c.pool_id is not null), '{}')
                          from policy_quota c where c.tenant_id = p.tenant_id and c.policy_id = p.id))), '[]')
                       from policy p where p.tenant_id = :tenant),
                'workloads', (select coalesce(json_agg(json_build_object('id', w.id, 'queue', w.queue_id, 'policy',
                    w.policy_id,
                       'pools', f.pool_ids, 'gpuMilli', (select json_agg(f.workers
                            * case when f.gpu_memory_mib is null then asked_gpu_milli(w.gpus, f.gpu_milli, f.max_gpus)
                           else s.gpu_milli end order by x.place)
                           from unnest(f.pool_ids) with ordinality as x(id, place) left
                               join share s on s.id = f.id and s.place = x.place), 'pool', a.pool_id, 'heldMilli',
                               a.gpu_milli)), '[]')
                       from workload w join profile f on f.tenant_id = w.tenant_id and f.id = w.profile_id
                       left join lateral (select (array_agg(h.pool_id))[1] as pool_id, sum(h.gpu_milli)
                           as gpu_milli from attempt h
                                           where h.tenant_id = w.tenant_id and h.workload_id = w.id
                                               and h.state <> 'ended') a on true
                      where w.tenant_id = :tenant and w.state not in ('succeeded', 'failed', 'cancelled'))) as text)
            """;

    private final TenantTransactions transactions;
    private final RedisScriptRunner redis;
    private final ObjectMapper json;

    LiveUsage(TenantTransactions transactions, RedisScriptRunner redis, ObjectMapper json) {
        this.transactions = transactions;
        this.redis = redis;
        this.json = json;
    }

    /** Counters with their time. */
    private record Figures(Instant asOf, LiveUsageApi.Source source, SortedMap<CounterField, Long> values) {}

    /**
     * The names for the ids in the figures.
     *
     * @param quotas the policies and pools that have a row even when nothing is used or waits
     * @param open the queues that have a row even when nothing waits
     */
    private record Names(
            Map<UUID, String> pools,
            Map<UUID, String> queues,
            Map<UUID, String[]> policies,
            Set<Amount> quotas,
            Set<UUID> open) {}

    Uni<LiveUsageApi.Live> currentUsage(TenantId tenant) {
        return redis.hgetall(LiveCounters.countersKey(tenant))
                .map(LiveUsage::parsePublished)
                .onFailure(RedisUnavailable.class)
                .recoverWithItem(Optional.empty())
                .chain(published -> transactions.in(tenant, session -> published
                        .map(figures -> Uni.createFrom().item(figures))
                        .orElseGet(() -> countInDatabase(session, tenant))
                        .chain(figures -> readNames(session, tenant).map(names -> toView(figures, names)))));
    }

    private static Optional<Figures> parsePublished(Response hash) {
        SortedMap<CounterField, Long> values = new TreeMap<>();
        Map<String, String> other = new HashMap<>();
        for (String key : hash.getKeys()) {
            String value = hash.get(key).toString();
            CounterField.parse(key)
                    .ifPresentOrElse(field -> values.put(field, Long.parseLong(value)), () -> other.put(key, value));
        }
        String asOf = other.get("asOf");
        return asOf == null
                ? Optional.empty()
                : Optional.of(
                        new Figures(Instant.ofEpochMilli(Long.parseLong(asOf)), LiveUsageApi.Source.REDIS, values));
    }

    private Uni<Figures> countInDatabase(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(FACTS, String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResult()
                .map(text -> {
                    JsonNode facts = read(text);
                    LiveCounterTotals liveCounterTotals = new LiveCounterTotals();
                    liveCounterTotals.setTenant(tenant, true, amounts(facts.get("reserved")));
                    for (JsonNode policy : facts.get("policies")) {
                        liveCounterTotals.setPolicy(
                                tenant,
                                id(policy.get("id")),
                                policy.get("group").asText(),
                                amounts(policy.get("reserved")));
                    }
                    for (JsonNode workload : facts.get("workloads")) {
                        liveCounterTotals.setWorkload(toCountedWorkload(tenant, workload));
                    }
                    Instant at = OffsetDateTime.parse(facts.get("at").asText()).toInstant();
                    return new Figures(
                            at,
                            LiveUsageApi.Source.DATABASE,
                            liveCounterTotals.allCountersOf(tenant).values());
                });
    }

    private static CountedWorkload toCountedWorkload(TenantId tenant, JsonNode workload) {
        List<UUID> pools = new ArrayList<>();
        List<Long> gpuMilli = new ArrayList<>();
        workload.get("pools").forEach(pool -> pools.add(id(pool)));
        workload.get("gpuMilli").forEach(each -> gpuMilli.add(each.asLong()));
        JsonNode held = workload.get("pool");
        CountedWorkload.Place place = held.isNull()
                ? new CountedWorkload.Place.Queued()
                : new CountedWorkload.Place.Holding(
                        id(held), workload.get("heldMilli").asLong());
        return new CountedWorkload(
                tenant,
                id(workload.get("id")),
                id(workload.get("queue")),
                id(workload.get("policy")),
                pools,
                gpuMilli,
                place);
    }

    private Uni<Names> readNames(Mutiny.Session session, TenantId tenant) {
        return session.createNativeQuery(NAMES, String.class)
                .setParameter("tenant", tenant.value())
                .getSingleResult()
                .map(text -> {
                    JsonNode all = read(text);
                    Map<UUID, String[]> policies = new HashMap<>();
                    all.get("policies")
                            .properties()
                            .forEach(entry -> policies.put(UUID.fromString(entry.getKey()), new String[] {
                                entry.getValue().get(0).asText(),
                                entry.getValue().get(1).asText()
                            }));
                    Set<Amount> quotas = new TreeSet<>();
                    for (JsonNode quota : all.get("quotas")) {
                        Optional<UUID> policy =
                                quota.get("policy").isNull() ? Optional.empty() : Optional.of(id(quota.get("policy")));
                        quotas.add(new Amount(Measure.USED, policy, id(quota.get("pool"))));
                    }
                    Set<UUID> open = new TreeSet<>();
                    all.get("open").forEach(queue -> open.add(id(queue)));
                    return new Names(texts(all.get("pools")), texts(all.get("queues")), policies, quotas, open);
                });
    }

    private static LiveUsageApi.Live toView(Figures figures, Names names) {
        List<LiveUsageApi.OfPool> pools = new ArrayList<>();
        List<LiveUsageApi.OfPolicy> policies = new ArrayList<>();
        List<LiveUsageApi.OfQueue> queues = new ArrayList<>();
        SortedSet<Amount> rows = new TreeSet<>(names.quotas());
        SortedMap<UUID, Long> waiting = new TreeMap<>();
        names.open().forEach(queue -> waiting.put(queue, 0L));
        figures.values().forEach((field, value) -> {
            switch (field) {
                case Waiting(UUID queue) -> waiting.put(queue, value);
                case Amount amount -> rows.add(new Amount(Measure.USED, amount.policy(), amount.pool()));
            }
        });
        waiting.forEach((queue, count) ->
                queues.add(new LiveUsageApi.OfQueue(names.queues().getOrDefault(queue, queue.toString()), count)));
        for (Amount row : rows) {
            String pool = names.pools().getOrDefault(row.pool(), row.pool().toString());
            LiveUsageApi.Gpus gpus = gpus(figures.values(), row);
            if (row.policy().isEmpty()) {
                pools.add(new LiveUsageApi.OfPool(pool, gpus));
            } else {
                UUID policy = row.policy().get();
                String[] known = names.policies().get(policy);
                policies.add(
                        known == null
                                ? new LiveUsageApi.OfPolicy(policy.toString(), null, pool, gpus)
                                : new LiveUsageApi.OfPolicy(known[0], known[1], pool, gpus));
            }
        }
        return new LiveUsageApi.Live(figures.asOf(), figures.source(), pools, policies, queues);
    }

    private static LiveUsageApi.Gpus gpus(Map<CounterField, Long> values, Amount row) {
        return new LiveUsageApi.Gpus(
                amount(values, Measure.QUEUED, row),
                amount(values, Measure.USED, row),
                amount(values, Measure.RESERVED_USED, row),
                amount(values, Measure.OVER_QUOTA, row));
    }

    private static GpuAmount amount(Map<CounterField, Long> values, Measure measure, Amount row) {
        return new GpuAmount(values.getOrDefault(new Amount(measure, row.policy(), row.pool()), 0L));
    }

    private static Map<UUID, Long> amounts(JsonNode object) {
        Map<UUID, Long> amounts = new HashMap<>();
        object.properties()
                .forEach(entry -> amounts.put(
                        UUID.fromString(entry.getKey()), entry.getValue().asLong()));
        return amounts;
    }

    private static Map<UUID, String> texts(JsonNode object) {
        Map<UUID, String> texts = new HashMap<>();
        object.properties()
                .forEach(entry -> texts.put(
                        UUID.fromString(entry.getKey()), entry.getValue().asText()));
        return texts;
    }

    private static UUID id(JsonNode text) {
        return UUID.fromString(text.asText());
    }

    private JsonNode read(String text) {
        try {
            return json.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read live usage", e);
        }
    }
}
