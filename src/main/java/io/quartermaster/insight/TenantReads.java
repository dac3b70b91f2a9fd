package io.quartermaster.insight;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.AccessRule;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Reads the names in requests and results in the tenant's own transaction, so that row-level security applies to every
 * name in a response.
 */
@ApplicationScoped
class TenantReads {

    private static final String QUEUES = """
            select cast(json_build_object('id', q.id, 'name', q.name, 'group', p.group_path, 'state', q.state,
                'overQuota', q.over_quota, 'graceMillis', p.grace_ms,
                       'onPreemption', p.on_preemption, 'maxPriority', p.max_priority, 'nonPreemptible',
                           p.non_preemptible, 'profile', f.id, 'profileName', f.name, 'gpuMilli', f.gpu_milli,
                       'gpuDevices', f.gpu_devices, 'gpuMemoryMiB', f.gpu_memory_mib, 'mig', f.mig, 'maxGpus',
                           f.max_gpus, 'gpuLimitMilli', f.gpu_limit_milli, 'workers', f.workers,
                       'minWorkers', f.min_workers, 'cpuMilli', f.cpu_milli, 'memoryMiB', f.memory_mib, 'labels',
                           f.node_labels,
                       'required', f.required_level, 'preferred', f.preferred_level, 'sliceWorkers', f.slice_workers,
                           'sliceLevel', f.slice_level, 'movesBack', f.moves_back, 'maxRuntimeMillis', f.max_runtime_ms,
                       'pools', (select coalesce(json_agg(l.name order by x.place), '[]')
                                   from unnest(f.pool_ids) with ordinality as x(id, place) join pool l on l.id = x.id),
                       'rules', (select coalesce(json_agg(json_build_array(r.subject_kind, r.subject)), '[]')
                                   from access_rule r where r.tenant_id = q.tenant_id and r.queue_id = q.id)) as text)
              from queue q
              join policy p on p.tenant_id = q.tenant_id and p.id = q.policy_id
              join profile f on f.tenant_id = q.tenant_id and f.id = q.profile_id
             where q.tenant_id = :tenant and q.retired_at is null and q.name in (:names)
            """;

    private final TenantTransactions transactions;
    private final ObjectMapper json;

    TenantReads(TenantTransactions transactions, ObjectMapper json) {
        this.transactions = transactions;
        this.json = json;
    }

    /** The open queues with these names; a name without an open queue is absent. */
    Uni<Map<String, QueueShape>> queues(TenantId tenant, Collection<String> names) {
        if (names.isEmpty()) {
            return Uni.createFrom().item(Map.of());
        }
        return transactions
                .in(tenant, session -> session.createNativeQuery(QUEUES, String.class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("names", List.copyOf(names))
                        .getResultList())
                .map(rows -> {
                    Map<String, QueueShape> queues = new HashMap<>();
                    rows.stream().map(this::queue).forEach(queue -> queues.put(queue.name(), queue));
                    return queues;
                });
    }

    /** The names of a tenant's workload and of its queue. */
    record WorkloadName(String name, String queue) {}

    Uni<Map<UUID, WorkloadName>> workloadNames(TenantId tenant, Collection<UUID> ids) {
        if (ids.isEmpty()) {
            return Uni.createFrom().item(Map.of());
        }
        return transactions
                .in(tenant, session -> session.createNativeQuery("""
                                select cast(w.id as text), w.name, q.name from workload w
                                  join queue q on q.tenant_id = w.tenant_id and q.id = w.queue_id
                                 where w.tenant_id = :tenant and w.id in (:ids)
                                """, Object[].class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("ids", List.copyOf(ids))
                        .getResultList())
                .map(rows -> {
                    Map<UUID, WorkloadName> named = new HashMap<>();
                    rows.forEach(row -> named.put(
                            UUID.fromString((String) row[0]), new WorkloadName((String) row[1], (String) row[2])));
                    return named;
                });
    }

    private QueueShape queue(String row) {
        try {
            JsonNode node = json.readTree(row);
            return new QueueShape(
                    Optional.of(new QueueId(node.get("id").asText())),
                    node.get("name").asText(),
                    new GroupPath(node.get("group").asText()),
                    EnumNames.stored(QueueState.class, node.get("state").asText()),
                    node.get("overQuota").asBoolean(),
                    node.get("graceMillis").asLong(),
                    PreemptionAction.valueOf(node.get("onPreemption").asText().toUpperCase(Locale.ROOT))
                            != PreemptionAction.END,
                    profile(node),
                    rules(node.get("rules")),
                    new SubmissionRights(
                            node.get("maxPriority").isNull()
                                    ? OptionalInt.empty()
                                    : OptionalInt.of(node.get("maxPriority").asInt()),
                            node.get("nonPreemptible").asBoolean()));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read a queue", e);
        }
    }

    private static Profile profile(JsonNode node) {
        TreeMap<String, String> labels = new TreeMap<>();
        node.get("labels")
                .properties()
                .forEach(label -> labels.put(label.getKey(), label.getValue().asText()));
        List<PoolId> pools = new ArrayList<>();
        node.get("pools").forEach(pool -> pools.add(new PoolId(pool.asText())));
        JsonNode runtime = node.path("maxRuntimeMillis");
        return new Profile(
                UUID.fromString(node.get("profile").asText()),
                node.get("profileName").asText(),
                Profile.gpus(
                        node.get("gpuMilli").asLong(),
                        node.get("gpuDevices").asInt(),
                        node.path("gpuMemoryMiB").isNumber()
                                ? node.get("gpuMemoryMiB").asLong()
                                : null,
                        text(node, "mig").orElse(null)),
                node.path("maxGpus").isNumber()
                        ? OptionalInt.of(node.get("maxGpus").asInt())
                        : OptionalInt.empty(),
                node.path("gpuLimitMilli").isNumber()
                        ? OptionalInt.of(node.get("gpuLimitMilli").asInt())
                        : OptionalInt.empty(),
                node.get("workers").asInt(),
                node.get("minWorkers").asInt(),
                node.get("cpuMilli").asLong(),
                node.get("memoryMiB").asLong(),
                labels,
                Profile.Topology.of(
                        text(node, "required").orElse(null),
                        text(node, "preferred").orElse(null),
                        node.path("sliceWorkers").isNumber()
                                ? node.get("sliceWorkers").asInt()
                                : null,
                        text(node, "sliceLevel").orElse(null)),
                pools,
                node.get("movesBack").asBoolean(),
                runtime.isNumber() ? OptionalLong.of(runtime.asLong()) : OptionalLong.empty(),
                0);
    }

    private static Optional<String> text(JsonNode node, String field) {
        return node.path(field).isTextual() ? Optional.of(node.path(field).asText()) : Optional.empty();
    }

    private static QueueAccessRules rules(JsonNode stored) {
        List<AccessRule> rules = new ArrayList<>();
        for (JsonNode rule : stored) {
            String kind = rule.get(0).asText();
            rules.add(AccessRule.of(
                    AccessRule.Kind.of(kind)
                            .orElseThrow(() -> new IllegalStateException("unknown kind of access rule: " + kind)),
                    rule.get(1).asText()));
        }
        return new QueueAccessRules(rules);
    }
}
