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
 * What the tables said of a cell at one moment, in the engine's words. It is read and translated by the leader's own code, so an engine
 * built from it decides as the leader's does, and needs no leader. Nothing in it changes.
 */
public final class CellSnapshot {

    /** What was granted to a tenant and by it. Pools are named by their names. */
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
    private final Map<WorkloadId, Forecaster.Yielding> yielding = new HashMap<>();
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
            Node node = fact.heardAgain() ? fact.takenBack().node() : fact.node();
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
        Map<Forecaster.Yielding, Forecaster.Yielding> alike = new HashMap<>();
        long last = 0;
        for (WorkloadRecord record : stored.workloads()) {
            Workload workload = words.asStored(record, asOfMillis);
            workloads.add(workload);
            Forecaster.Yielding yields =
                    new Forecaster.Yielding(graceMillis(record), record.terms().onPreemption() != PreemptionAction.END);
            yielding.put(workload.id(), alike.computeIfAbsent(yields, same -> same));
            last = Math.max(last, record.sequence());
        }
        lastSequence = last;
    }

    /** In a pool that is a plain count nobody has to leave. */
    private static long graceMillis(WorkloadRecord record) {
        return record.attempt().filter(attempt -> attempt.nodes().isEmpty()).isPresent()
                ? 0
                : record.terms().graceMillis();
    }

    private static <T> Function<UUID, T> known(Map<UUID, T> named, String what) {
        return id -> Optional.ofNullable(named.get(id))
                .orElseThrow(() -> new IllegalStateException("no " + what + " " + id + " is stored"));
    }

    /** On the database's clock; every node whose lease ended before is down. */
    public long asOfMillis() {
        return asOfMillis;
    }

    /** An engine that knows all of this, and nothing was planned with yet. */
    public Engine engine() {
        return engine(List.of(), workloads);
    }

    /**
     * An engine that knows something else.
     *
     * @param besides told after everything else
     * @param instead all workloads that it knows
     */
    public Engine engine(List<Change> besides, List<Workload> instead) {
        Engine engine = new Engine(settings);
        engine.apply(facts);
        engine.apply(besides);
        List<Change> work = new ArrayList<>(instead.size());
        instead.forEach(workload -> work.add(new Change.WorkloadSet(workload)));
        engine.apply(work);
        return engine;
    }

    /** Everything that is not over, in order of submission. */
    public List<Workload> workloads() {
        return Collections.unmodifiableList(workloads);
    }

    /** The greatest number that any of them has; those that follow come later. */
    public long lastSequence() {
        return lastSequence;
    }

    /** How long it takes to give way where its pool allows that, and what becomes of it then. */
    public Optional<Forecaster.Yielding> yielding(WorkloadId workload) {
        return Optional.ofNullable(yielding.get(workload));
    }

    /** For how long what is stopped in a pool keeps its devices at the most. */
    public Map<PoolId, Long> maxGraceMillis() {
        return Collections.unmodifiableMap(maxGraceMillis);
    }

    public SortedMap<PoolId, Pool> pools() {
        return Collections.unmodifiableSortedMap(pools);
    }

    /** By name. */
    public SortedMap<String, Node> nodes() {
        return Collections.unmodifiableSortedMap(nodes);
    }

    public List<TenantId> tenants() {
        return List.copyOf(quotas.keySet());
    }

    /** Empty for a tenant that is not known. */
    public Optional<Terms> terms(TenantId tenant) {
        return Optional.ofNullable(quotas.get(tenant)).map(fact -> new Terms(fact.allotments(), fact.policies()));
    }

    /** The changes that follow when tenants have other terms. */
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
