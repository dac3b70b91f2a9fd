package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.AccessRule;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.governance.rules.GpuRange;
import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * A short-lived cache of the queues of all tenants by name, so that a submission need not read them. The insert
 * compares the versions of the queue, its access rules, its policy and its profile, so no submission enters by outdated
 * terms. No submission is refused by cached terms either: {@link #read} decides.
 */
@ApplicationScoped
class QueueDirectory {

    /** Far above the number of queues that are active at a time. At this size the cache is cleared. */
    private static final int MAX_CACHED = 20_000;

    private static final String SELECT_QUEUES = """
            select cast(json_build_object('id', q.id, 'name', q.name, 'version', q.version, 'rulesVersion',
                q.rules_version, 'policyVersion', p.version, 'profileVersion', f.version, 'policy', p.name,
                'maxPriority', p.max_priority,
                       'nonPreemptible', p.non_preemptible, 'profile', q.profile_id,
                       'group', p.group_path, 'gpuMilli', f.gpu_milli, 'withGpus', f.gpu_milli > 0
                           or f.gpu_memory_mib is not null,
                       'wholeGpus', f.gpu_memory_mib is null and f.mig is null
                           and f.gpu_milli % (1000 * f.gpu_devices) = 0, 'maxGpus', f.max_gpus, 'maxWaiting',
                           q.max_waiting, 'draining', q.state = 'draining', 'active', t.state = 'active',
                       'rules', (select coalesce(json_agg(json_build_array(r.subject_kind, r.subject)), '[]')
                                   from access_rule r where r.tenant_id = q.tenant_id and r.queue_id = q.id)) as text)
              from queue q
              join policy p on p.tenant_id = q.tenant_id and p.id = q.policy_id
              join profile f on f.tenant_id = q.tenant_id and f.id = q.profile_id
              join tenant t on t.id = q.tenant_id
             where q.tenant_id = :tenant and q.retired_at is null
               and q.name in (select json_array_elements_text(cast(cast(:names as text) as json)))
            """;

    private final TenantTransactions transactions;
    private final ObjectMapper json;
    private final long cacheNanos;
    private final Map<Key, CachedTerms> cache = new ConcurrentHashMap<>();

    private record Key(TenantId tenant, String queue) {}

    private record CachedTerms(QueueTerms terms, long readNanos) {}

    QueueDirectory(TenantTransactions transactions, ObjectMapper json, WorkloadsConfig config) {
        this.transactions = transactions;
        this.json = json;
        this.cacheNanos = config.queueCache().toNanos();
    }

    /**
     * Queues by name; a name without an open queue is absent.
     *
     * @param fromCache whether any of them comes from the cache
     */
    record FoundQueues(Map<String, QueueTerms> terms, boolean fromCache) {}

    /** Takes queues from the cache and reads only the others. */
    Uni<FoundQueues> find(TenantId tenant, Collection<String> names) {
        Map<String, QueueTerms> found = new HashMap<>();
        Set<String> missing = new TreeSet<>();
        long now = System.nanoTime();
        for (String name : names) {
            CachedTerms cached = cache.get(new Key(tenant, name));
            if (cached != null && now - cached.readNanos() < cacheNanos) {
                found.put(name, cached.terms());
            } else {
                missing.add(name);
            }
        }
        if (missing.isEmpty()) {
            return Uni.createFrom().item(new FoundQueues(found, true));
        }
        boolean fromCache = !found.isEmpty();
        return read(tenant, missing).map(read -> {
            found.putAll(read);
            return new FoundQueues(found, fromCache);
        });
    }

    /** Reads the present queues in a transaction of its own. */
    Uni<Map<String, QueueTerms>> read(TenantId tenant, Set<String> names) {
        return transactions.in(tenant, session -> read(session, tenant, names));
    }

    /** Reads the present queues in this transaction. */
    Uni<Map<String, QueueTerms>> read(Mutiny.Session session, TenantId tenant, Set<String> names) {
        long now = System.nanoTime();
        return session.createNativeQuery(SELECT_QUEUES, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("names", write(names))
                .getResultList()
                .map(rows -> {
                    if (cache.size() > MAX_CACHED) {
                        cache.clear();
                    }
                    Map<String, QueueTerms> found = new HashMap<>();
                    for (String row : rows) {
                        QueueTerms terms = parse(row);
                        found.put(terms.name(), terms);
                        cache.put(new Key(tenant, terms.name()), new CachedTerms(terms, now));
                    }
                    return found;
                });
    }

    void invalidate(TenantId tenant, Collection<String> names) {
        names.forEach(name -> cache.remove(new Key(tenant, name)));
    }

    private QueueTerms parse(String row) {
        try {
            JsonNode node = json.readTree(row);
            List<AccessRule> rules = new ArrayList<>();
            for (JsonNode rule : node.get("rules")) {
                String kind = rule.get(0).asText();
                rules.add(AccessRule.of(
                        AccessRule.Kind.of(kind)
                                .orElseThrow(() -> new IllegalStateException("unknown kind of access rule: " + kind)),
                        rule.get(1).asText()));
            }
            return new QueueTerms(
                    UUID.fromString(node.get("id").asText()),
                    node.get("name").asText(),
                    new QueueTerms.Versions(
                            node.get("version").asLong(),
                            node.get("rulesVersion").asLong(),
                            node.get("policyVersion").asLong(),
                            node.get("profileVersion").asLong()),
                    new SubmissionRightsValidator(
                            node.get("policy").asText(),
                            new SubmissionRights(
                                    optional(node.get("maxPriority")),
                                    node.get("nonPreemptible").asBoolean())),
                    UUID.fromString(node.get("profile").asText()),
                    new GroupPath(node.get("group").asText()),
                    new GpuRange(
                            node.get("gpuMilli").asLong(),
                            node.get("withGpus").asBoolean(),
                            node.get("wholeGpus").asBoolean(),
                            optional(node.get("maxGpus"))),
                    node.get("maxWaiting").asInt(),
                    node.get("draining").asBoolean(),
                    node.get("active").asBoolean(),
                    new QueueAccessRules(rules));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read a queue", e);
        }
    }

    private static OptionalInt optional(JsonNode number) {
        return number.isNull() ? OptionalInt.empty() : OptionalInt.of(number.asInt());
    }

    private String write(Set<String> names) {
        try {
            return json.writeValueAsString(names);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not write names as JSON", e);
        }
    }
}
