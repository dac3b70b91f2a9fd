package io.quartermaster.dispatch.read;

import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Forecaster;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.QuotaTreeBuilder;
import io.quartermaster.platform.TenantId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;

/**
 * An immutable snapshot of a cell's tables at one moment, in the terms of the engine. The leader's own code reads and
 * translates it. So an engine built from it decides as the leader's engine does, and needs no leader.
 */
public final class CellSnapshot {

    /** The allotments of a tenant and its own policies. Both refer to pools by name. */
    public record Terms(List<Allotment> allotments, List<Policy> policies) {
        public Terms {
            allotments = List.copyOf(allotments);
            policies = List.copyOf(policies);
        }
    }

    private final long asOfMillis;
    private final Settings settings;
    private final boolean allPools;
    private final SortedMap<PoolId, Pool> pools = new TreeMap<>();
    private final Map<PoolId, Long> maxGraceMillis = new HashMap<>();
    private final SortedMap<String, Node> nodes = new TreeMap<>();
    private final SortedMap<TenantId, QuotaFacts> quotas = new TreeMap<>();
    private final List<Workload> workloads = new ArrayList<>();
    private final Map<WorkloadId, Forecaster.EvictionBehaviour> yielding = new HashMap<>();
    private final List<Change> facts = new ArrayList<>();
    private final long lastSequence;

    CellSnapshot(CellFacts stored, Settings settings, long asOfMillis) {
        this.allPools = stored.allPools();
        this.settings = settings;
        this.asOfMillis = asOfMillis;
        Map<UUID, PoolId> poolNames = new HashMap<>();
        stored.pools().forEach(fact -> {
            poolNames.put(fact.id(), fact.pool().id());
            if (!fact.retired()) {
                pools.put(fact.pool().id(), fact.pool());
                maxGraceMillis.put(fact.pool().id(), fact.maxGraceMillis());
                facts.add(new Change.PoolSet(fact.pool()));
            }
        });
        stored.nodes().stream().filter(fact -> !fact.retired()).forEach(fact -> {
            Node node = fact.heardAgain() ? fact.withoutLoss().node() : fact.node();
            nodes.put(fact.name(), node);
            facts.add(new Change.NodeSet(node));
        });
        Map<UUID, QuotaPath> paths = new HashMap<>();
        stored.quotas().forEach(fact -> {
            quotas.put(fact.tenant(), fact);
            paths.putAll(fact.paths());
            new PublishedQuotas().publish(fact, facts);
        });
        facts.addAll(stored.strictQueues());
        facts.addAll(stored.pastUse());
        EngineFacts words = new EngineFacts(known(poolNames, "pool"), known(paths, "policy"));
        Map<Forecaster.EvictionBehaviour, Forecaster.EvictionBehaviour> alike = new HashMap<>();
        long last = 0;
        for (WorkloadRecord record : stored.workloads()) {
            Workload workload = words.asStored(record, asOfMillis);
            workloads.add(workload);
            Forecaster.EvictionBehaviour yields = new Forecaster.EvictionBehaviour(
                    graceMillis(record), record.terms().onPreemption() != PreemptionAction.END);
            yielding.put(workload.id(), alike.computeIfAbsent(yields, same -> same));
            last = Math.max(last, record.sequence());
        }
        lastSequence = last;
    }

    /** In a pool that is a plain count no process has to stop, so a victim needs no grace period. */
    private static long graceMillis(WorkloadRecord record) {
        return record.attempt().filter(attempt -> attempt.nodes().isEmpty()).isPresent()
                ? 0
                : record.terms().graceMillis();
    }

    private static <T> Function<UUID, T> known(Map<UUID, T> named, String what) {
        return id -> Optional.ofNullable(named.get(id))
                .orElseThrow(() -> new IllegalStateException("no " + what + " " + id + " is stored"));
    }

    /** The moment of the snapshot by the database's clock; every node whose lease ended before it is down. */
    public long asOfMillis() {
        return asOfMillis;
    }

    /** A new engine with this state, which has not made a plan yet. */
    public Engine engine() {
        return engine(List.of(), workloads);
    }

    /**
     * A new engine with a modified state.
     *
     * @param extraChanges further changes, applied after the snapshot
     * @param instead all workloads, in place of those of the snapshot
     */
    public Engine engine(List<Change> extraChanges, List<Workload> instead) {
        Engine engine = new Engine(settings);
        engine.apply(facts);
        engine.apply(extraChanges);
        List<Change> work = new ArrayList<>(instead.size());
        instead.forEach(workload -> work.add(new Change.WorkloadSet(workload)));
        engine.apply(work);
        return engine;
    }

    /** All live workloads, in order of submission. */
    public List<Workload> workloads() {
        return Collections.unmodifiableList(workloads);
    }

    /** The greatest sequence number of the workloads; later submissions have greater ones. */
    public long lastSequence() {
        return lastSequence;
    }

    /** How long the workload takes to stop as a victim, as its pool allows, and its state afterwards. */
    public Optional<Forecaster.EvictionBehaviour> yielding(WorkloadId workload) {
        return Optional.ofNullable(yielding.get(workload));
    }

    /** The longest time that a stopping attempt keeps its devices, by pool. */
    public Map<PoolId, Long> maxGraceMillis() {
        return Collections.unmodifiableMap(maxGraceMillis);
    }

    public SortedMap<PoolId, Pool> pools() {
        return Collections.unmodifiableSortedMap(pools);
    }

    /** The nodes by name. */
    public SortedMap<String, Node> nodes() {
        return Collections.unmodifiableSortedMap(nodes);
    }

    public List<TenantId> tenants() {
        return List.copyOf(quotas.keySet());
    }

    /** The terms of a tenant; empty if the tenant is unknown. */
    public Optional<Terms> terms(TenantId tenant) {
        return Optional.ofNullable(quotas.get(tenant)).map(fact -> new Terms(fact.allotments(), fact.policies()));
    }

    /** The changes that follow if tenants have other terms. */
    public List<Change> withTerms(Map<TenantId, Terms> changed) {
        boolean anyCountsAllPools = quotas.values().stream()
                .flatMap(fact ->
                        Optional.ofNullable(changed.get(fact.tenant()))
                                .map(Terms::policies)
                                .orElse(fact.policies())
                                .stream())
                .anyMatch(QuotaTreeBuilder::countsAllPools);
        List<Change> changes = new ArrayList<>();
        for (QuotaFacts before : quotas.values()) {
            Terms terms = changed.get(before.tenant());
            if (terms != null || anyCountsAllPools != allPools) {
                PublishedQuotas told = new PublishedQuotas();
                told.publish(before, new ArrayList<>());
                told.publish(
                        terms == null
                                ? before.with(before.allotments(), before.policies(), anyCountsAllPools)
                                : before.with(terms.allotments(), terms.policies(), anyCountsAllPools),
                        changes);
            }
        }
        return changes;
    }
}
