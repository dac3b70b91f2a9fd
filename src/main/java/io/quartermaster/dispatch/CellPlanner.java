package io.quartermaster.dispatch;

import io.quartermaster.dispatch.commit.CounterUpdater;
import io.quartermaster.dispatch.commit.LifecycleWriter;
import io.quartermaster.dispatch.commit.NodeLossHandler;
import io.quartermaster.dispatch.commit.PendingReasons;
import io.quartermaster.dispatch.commit.PlanFailedException;
import io.quartermaster.dispatch.commit.PlanTranslation;
import io.quartermaster.dispatch.commit.ReservedLevels;
import io.quartermaster.dispatch.commit.UnmetReservations;
import io.quartermaster.dispatch.lifecycle.LifecycleRules;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Binding;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.dispatch.read.CapacityFacts;
import io.quartermaster.dispatch.read.CapacityFacts.NodeFact;
import io.quartermaster.dispatch.read.CapacityFacts.PoolFact;
import io.quartermaster.dispatch.read.CellFacts;
import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.read.PublishedQuotas;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import io.quartermaster.dispatch.read.QuotaFacts;
import io.quartermaster.dispatch.read.TermsInterner;
import io.quartermaster.dispatch.read.UsageHistoryStore;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.LockedRowsException;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.dispatch.transaction.StalePlanException;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.workloads.WorkloadState;
import io.quartermaster.workloads.counters.LiveCounterTotals;
import io.vertx.core.json.JsonObject;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BiPredicate;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * The planner of one term of leadership: the engine, and the maps between the engine's ids and those of the tables.
 * Single-threaded. It is built from the tables, and discarded when a commit fails or has an unknown outcome.
 */
public final class CellPlanner {

    private final LeaderSettings settings;
    private final Engine engine;
    /**
     * Workloads whose rows other transactions have locked. As long as this planner lives, they take no lifecycle step,
     * and no plan decides about them.
     */
    private final Set<UUID> locked;

    private final EngineFacts facts = new EngineFacts(this::poolId, this::path);
    private final Map<UUID, PoolId> pools = new HashMap<>();
    private final Map<PoolId, UUID> poolIds = new HashMap<>();
    private final Map<UUID, QuotaPath> paths = new HashMap<>();
    private final TermsInterner terms = new TermsInterner();
    private final PublishedQuotas publishedQuotas = new PublishedQuotas();
    private final Map<UUID, String> clusters = new HashMap<>();
    private final Set<UUID> pausing = new HashSet<>();
    private final Map<UUID, Binding> published = new HashMap<>();
    private final ReservedLevels levels = new ReservedLevels();
    private final UnmetReservations unmet = new UnmetReservations(this::pool);
    private final CounterUpdater counterUpdater = new CounterUpdater();
    private final UsageHistoryStore pastUse = new UsageHistoryStore();
    private final PendingReasons reasons;
    private boolean allPools;
    private boolean anyQuarantined;

    // Work that the first cycles must do although no inbox row names it.
    private List<QuotaFacts> unpublishedQuotas = List.of();
    private final Set<UUID> heardAgain = new TreeSet<>();
    private final Deque<PendingStep> pendingSteps = new ArrayDeque<>();
    /** When the reserved amounts of a tenant change next by the calendar. */
    private final Map<TenantId, Long> transitions = new TreeMap<>();

    /** When a delayed workload is due for its next start, and when the processes of a paused workload are given up. */
    private final Map<UUID, DueRetry> retries = new TreeMap<>();

    private record PendingStep(TenantId tenant, UUID workload) {}

    private record DueRetry(TenantId tenant, long atMillis) {}

    /**
     * The outcome of a cycle, for the notifications after the commit.
     *
     * @param nextPlanMillis when the next plan is due, even if no inbox row arrives
     * @param more whether work is left that did not fit into this cycle
     */
    public record Outcome(
            int inboxRows,
            Plan plan,
            Set<UUID> touchedNodes,
            Set<TenantId> fedTenants,
            long stampMillis,
            OptionalLong nextPlanMillis,
            boolean more) {

        /** Adds the outcome of a cycle for quarantined workloads, which may have freed capacity for the next plan. */
        Outcome plus(LifecyclePass.Outcome after) {
            Set<UUID> nodes = new TreeSet<>(touchedNodes);
            nodes.addAll(after.touchedNodes());
            Set<TenantId> tenants = new TreeSet<>(fedTenants);
            tenants.addAll(after.fedTenants());
            return new Outcome(inboxRows, plan, nodes, tenants, stampMillis, nextPlanMillis, true);
        }

        Outcome withImmediateFollowUp() {
            return new Outcome(inboxRows, plan, touchedNodes, fedTenants, stampMillis, nextPlanMillis, true);
        }
    }

    private CellPlanner(LeaderSettings settings, Set<UUID> locked) {
        this.settings = settings;
        this.locked = Set.copyOf(locked);
        this.engine = new Engine(settings.engine());
        this.reasons = new PendingReasons(settings.reasonsPerPlan());
    }

    /**
     * Reads all live workloads and the state of the cell. Writes nothing: the first cycle takes the steps that follow.
     *
     * @param locked workloads that the planner leaves out
     */
    static CellPlanner build(SystemTransaction transaction, Fence fence, LeaderSettings settings, Set<UUID> locked) {
        return build(transaction, fence, settings, locked, CellFacts.Extent.ALL);
    }

    /**
     * Makes a plan with a part of the stored state, to see whether it can be made at all, and discards it. Writes
     * nothing.
     */
    static void dryRun(SystemTransaction transaction, Fence fence, LeaderSettings settings, CellFacts.Extent extent) {
        dryRun(transaction, fence, settings, extent, Integer.MAX_VALUE);
    }

    /**
     * Makes a plan and writes its first decisions, to see whether the database accepts them. The caller rolls the
     * transaction back.
     */
    static void dryRun(SystemTransaction transaction, Fence fence, LeaderSettings settings, int maxDecisions) {
        dryRun(transaction, fence, settings, CellFacts.Extent.ALL, maxDecisions).write(transaction, settings.cell());
    }

    /** Makes a plan with the complete stored state. Writes nothing. */
    static Plan plan(SystemTransaction transaction, Fence fence, LeaderSettings settings) {
        CellPlanner cellPlanner = build(transaction, fence, settings, Set.of(), CellFacts.Extent.ALL);
        return settings.planning().plan(cellPlanner.engine, fence.stampMillis());
    }

    private static PlanRows dryRun(
            SystemTransaction transaction,
            Fence fence,
            LeaderSettings settings,
            CellFacts.Extent extent,
            int maxDecisions) {
        CellPlanner cellPlanner = build(transaction, fence, settings, Set.of(), extent);
        Plan plan = settings.planning().plan(cellPlanner.engine, fence.stampMillis());
        List<Decision> decisions = plan.decisions().stream().limit(maxDecisions).toList();
        Plan part = new Plan(plan.nowMillis(), decisions, List.of(), plan.nextPlanAtMillis());
        PlanRows rows = new PlanRows(fence);
        cellPlanner.translate(
                part,
                rows,
                fence,
                readMissing(new CellReader(transaction, fence.stampMillis()), part, Map.of(), Map.of()));
        return rows;
    }

    private static CellPlanner build(
            SystemTransaction transaction,
            Fence fence,
            LeaderSettings settings,
            Set<UUID> locked,
            CellFacts.Extent extent) {
        CellPlanner cellPlanner = new CellPlanner(settings, locked);
        CellFacts stored = CellFacts.read(transaction, settings.cell(), fence.stamp(), settings.executors(), extent);
        List<Change> changes = new ArrayList<>();
        stored.pools().forEach(pool -> cellPlanner.addPool(pool, changes));
        stored.nodes().forEach(node -> {
            cellPlanner.addNode(node, changes);
            if (node.heardAgain()) {
                cellPlanner.heardAgain.add(node.id());
            }
        });
        cellPlanner.allPools = stored.allPools();
        cellPlanner.unpublishedQuotas = stored.quotas();
        cellPlanner.unpublishedQuotas.forEach(quota -> cellPlanner.addQuota(quota, fence.stampMillis(), changes));
        changes.addAll(stored.strictQueues());
        cellPlanner.pastUse.load(stored.pastUse());
        changes.addAll(stored.pastUse());
        cellPlanner.levels.load(transaction);
        cellPlanner.unmet.load(transaction);
        cellPlanner.anyQuarantined = QuarantinedWorkloads.isAny(transaction);
        stored.workloads().forEach(record -> {
            changes.add(cellPlanner.change(record, fence.stampMillis()));
            cellPlanner.counterUpdater.setWorkload(record);
            cellPlanner.unmet.setWorkload(record);
            cellPlanner.notifyEngine(record, fence.stampMillis());
            if (LifecycleRules.hasStep(record)) {
                cellPlanner.pendingSteps.add(new PendingStep(record.tenant(), record.id()));
            }
        });
        try {
            cellPlanner.engine.apply(changes);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            throw PlanFailedException.of(e);
        }
        return cellPlanner;
    }

    /**
     * Runs one cycle inside a transaction that holds the fence: first reports and requests, then the plan. Throws
     * {@link PlanFailedException} if reports and requests are applied but the plan fails, {@link LockedRowsException}
     * or {@link StalePlanException}.
     */
    Outcome cycle(SystemTransaction transaction, Fence fence, InboxBatch batch, PoisonRowFinder.Selection selection) {
        Outcome outcome = cycle(transaction, fence, batch, takePendingSteps(selection, fence.stampMillis()));
        return hasMore(batch, selection, fence.stampMillis()) ? outcome.withImmediateFollowUp() : outcome;
    }

    /** Runs the first cycle after these entries left the quarantine. It takes only their lifecycle steps. */
    Outcome readmit(
            SystemTransaction transaction, Fence fence, Set<TenantId> tenants, Set<UUID> workloads, int maxSteps) {
        Set<UUID> own = takePendingSteps(
                maxSteps,
                fence.stampMillis(),
                (tenant, workload) -> tenants.contains(tenant) || workloads.contains(workload));
        return cycle(transaction, fence, InboxBatch.EMPTY, own).withImmediateFollowUp();
    }

    private Outcome cycle(SystemTransaction transaction, Fence fence, InboxBatch batch, Set<UUID> named) {
        PlanRows rows = new PlanRows(fence);
        List<Change> changes = new ArrayList<>();
        Map<UUID, WorkloadRecord> known = new TreeMap<>();

        addCapacityChanges(transaction, fence, batch, changes);
        changes.addAll(CellFacts.queues(transaction, batch.uuids(Inbox.Kind.QUEUE)));
        Map<UUID, Long> lost = lostNodes(transaction, fence, changes);
        List<QuotaFacts> quotaFacts = changedQuotas(transaction, fence, batch);
        quotaFacts.forEach(quota -> addQuota(quota, fence.stampMillis(), changes));
        levels.publish(unpublishedQuotas, rows);
        levels.publish(quotaFacts, rows);
        unpublishedQuotas = List.of();

        if (anyQuarantined) {
            QuarantinedWorkloads.cancel(transaction, fence, rows, batch.uuids(Inbox.Kind.WORKLOAD));
        }
        CellReader reader = new CellReader(transaction, terms, fence.stampMillis());
        Collection<WorkloadRecord> records = readAffected(reader, batch, named, lost.keySet());
        long readMillis = fence.stampMillis();
        if (!records.isEmpty()) {
            settings.advance(transaction, fence);
        }
        LifecycleWriter lifecycleWriter = new LifecycleWriter(
                rows,
                fence,
                facts,
                after -> changes.add(change(after, fence.stampMillis())),
                lost,
                settings.pausedForMillis());
        records.forEach(record -> {
            lifecycleWriter.write(record);
            known.put(record.id(), record);
            WorkloadRecord now = lifecycleWriter.written().getOrDefault(record.id(), record);
            notifyEngine(now, fence.stampMillis());
            if (now.state() instanceof WorkloadState.Paused && record.paused().isEmpty()) {
                // The node or the tenant may have changed while the workload was being paused.
                pendingSteps.add(new PendingStep(now.tenant(), now.id()));
            }
        });

        Plan plan;
        boolean moreReasons;
        try {
            engine.apply(changes);
            plan = settings.planning().plan(engine, fence.stampMillis());
            moreReasons = plan(plan, rows, fence, reader, known, lifecycleWriter.written());
            rows.write(transaction, settings.cell());
            pastUse.write(transaction, settings.cell(), engine.pastUse(), engine.raisedPastUse());
            batch.delete(transaction);
            transaction.awaitSent();
        } catch (StalePlanException | LockedRowsException e) {
            throw e;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            throw PlanFailedException.of(e);
        }
        return new Outcome(
                batch.ids().size(),
                plan,
                rows.touchedNodes(),
                rows.fedTenants(),
                fence.stampMillis(),
                nextPlan(plan, readMillis),
                moreReasons || lost.size() == NodeLossHandler.MAX_NODES_PER_CYCLE);
    }

    /** Writes a plan. Returns whether reasons are left that the next cycle has to write. */
    private boolean plan(
            Plan plan,
            PlanRows rows,
            Fence fence,
            CellReader reader,
            Map<UUID, WorkloadRecord> known,
            Map<UUID, WorkloadRecord> settled) {
        Map<UUID, WorkloadRecord> records = readMissing(reader, plan, known, settled);
        translate(plan, rows, fence, records);
        updateCounters(plan, known, settled, records);
        unmet.applyReasons(plan.waits());
        unmet.drainChanges()
                .forEach(level -> rows.addUsageEvent(
                        level.tenant(), "unmet", level.pool(), new JsonObject().put("gpu_milli", level.gpuMilli())));
        reasons.add(plan.waits());
        locked.forEach(id -> reasons.withdraw(EngineFacts.id(id)));
        return reasons.write(rows);
    }

    private Change change(WorkloadRecord record, long nowMillis) {
        if (record.isOver()) {
            return new Change.WorkloadRemoved(EngineFacts.id(record.id()));
        }
        return new Change.WorkloadSet(
                locked.contains(record.id())
                        ? facts.asUntouchable(record, nowMillis)
                        : facts.asStored(record, nowMillis));
    }

    private void translate(Plan plan, PlanRows rows, Fence fence, Map<UUID, WorkloadRecord> records) {
        new PlanTranslation(rows, fence, this::pool, clusters, pausing, this::binding).translate(plan, records);
    }

    /** Whether the next cycle, with this batch, takes lifecycle steps that no inbox row names. */
    boolean hasPendingSteps(PoisonRowFinder.Selection selection, long nowMillis) {
        return selection instanceof PoisonRowFinder.Selection.Oldest(int limit, boolean allowed)
                && allowed
                && (!pendingSteps.isEmpty() || retries.values().stream().anyMatch(due -> due.atMillis() <= nowMillis));
    }

    private Set<UUID> takePendingSteps(PoisonRowFinder.Selection selection, long nowMillis) {
        return selection instanceof PoisonRowFinder.Selection.Oldest(int limit, boolean allowed) && allowed
                ? takePendingSteps(limit, nowMillis, (tenant, workload) -> true)
                : Set.of();
    }

    private Set<UUID> takePendingSteps(int limit, long nowMillis, BiPredicate<TenantId, UUID> which) {
        Set<UUID> some = new TreeSet<>();
        for (Iterator<PendingStep> each = pendingSteps.iterator(); some.size() < limit && each.hasNext(); ) {
            PendingStep next = each.next();
            if (which.test(next.tenant(), next.workload())) {
                some.add(next.workload());
                each.remove();
            }
        }
        retries.forEach((id, due) -> {
            if (due.atMillis() <= nowMillis && some.size() < limit && which.test(due.tenant(), id)) {
                some.add(id);
            }
        });
        return some;
    }

    /** @param readMillis the stamp by which the calendar was read: what was due later is still to be done */
    private OptionalLong nextPlan(Plan plan, long readMillis) {
        LongStream later = LongStream.concat(
                        retries.values().stream().mapToLong(DueRetry::atMillis),
                        transitions.values().stream().mapToLong(Long::longValue))
                .filter(at -> at > readMillis);
        return LongStream.concat(plan.nextPlanAtMillis().stream(), later).min();
    }

    private boolean hasMore(InboxBatch batch, PoisonRowFinder.Selection selection, long nowMillis) {
        return switch (selection) {
            case PoisonRowFinder.Selection.Oldest(int limit, boolean allowed) ->
                batch.ids().size() >= limit || hasPendingSteps(selection, nowMillis);
            case PoisonRowFinder.Selection.None() -> true;
            case PoisonRowFinder.Selection.Only(long id) -> true;
        };
    }

    /**
     * Records the policy, queue and profile by which the engine knows the workload from now on, and until when it is
     * delayed.
     */
    private void notifyEngine(WorkloadRecord record, long nowMillis) {
        boolean delayed = record.isDelayed(nowMillis);
        if (delayed) {
            retries.put(
                    record.id(),
                    new DueRetry(
                            record.tenant(),
                            record.retryBackoff().retryAtMillis().orElse(nowMillis)));
        } else if (record.state() instanceof WorkloadState.Paused
                && record.paused().isPresent()) {
            retries.put(
                    record.id(),
                    new DueRetry(record.tenant(), record.paused().get().untilMillis()));
        } else {
            retries.remove(record.id());
        }
        if (delayed || record.isLeaving() || record.isHeldInQueue()) {
            reasons.withdraw(EngineFacts.id(record.id()));
        }
        if (record.isOver()) {
            published.remove(record.id());
        } else {
            published.put(record.id(), record.terms().binding());
        }
    }

    /** Whether plans leave out a quarantined workload or tenant. */
    boolean hasQuarantined() {
        return anyQuarantined;
    }

    LiveCounterTotals counterTotals() {
        return counterUpdater.totals();
    }

    private void updateCounters(
            Plan plan,
            Map<UUID, WorkloadRecord> known,
            Map<UUID, WorkloadRecord> settled,
            Map<UUID, WorkloadRecord> records) {
        known.forEach((id, record) -> {
            WorkloadRecord now = settled.getOrDefault(id, record);
            counterUpdater.setWorkload(now);
            unmet.setWorkload(now);
        });
        Map<UUID, Long> held = new HashMap<>();
        for (Decision decision : plan.decisions()) {
            switch (decision) {
                case Decision.Start(WorkloadId id, Allocation bound, Decision.Rule rule, boolean reserved) ->
                    recordHolding(requireKnown(records.get(UUID.fromString(id.value())), "workload", id), bound, held);
                case Decision.Grow(WorkloadId id, Allocation bound, Decision.Rule rule) ->
                    recordHolding(requireKnown(records.get(UUID.fromString(id.value())), "workload", id), bound, held);
                case Decision.Evict evict -> addPendingStop(evict.workload(), records);
                case Decision.Shrink shrink -> addPendingStop(shrink.workload(), records);
                case Decision.Nominate nominate -> {}
                case Decision.WithdrawNomination withdrawNomination -> {}
            }
        }
    }

    /**
     * In a pool that is a plain count no executor runs the workload, so none reports its end: the next cycle takes it
     * as ended.
     */
    private void addPendingStop(WorkloadId victim, Map<UUID, WorkloadRecord> records) {
        WorkloadRecord record = requireKnown(records.get(UUID.fromString(victim.value())), "workload", victim);
        if (record.attempt().filter(attempt -> attempt.nodes().isEmpty()).isPresent()) {
            pendingSteps.add(new PendingStep(record.tenant(), record.id()));
        }
    }

    /** @param held the amount that each workload holds by the decisions of the plan so far */
    private void recordHolding(WorkloadRecord record, Allocation bound, Map<UUID, Long> held) {
        long before = held.getOrDefault(
                record.id(), record.attempt().map(LiveAttempt::heldGpuMilli).orElse(0L));
        long now = before + bound.gpuMilli();
        held.put(record.id(), now);
        counterUpdater.setHolding(record, pool(bound.pool()), now);
        unmet.setHolding(record, pool(bound.pool()), now);
    }

    private void addCapacityChanges(
            SystemTransaction transaction, Fence fence, InboxBatch batch, List<Change> changes) {
        Set<UUID> changedPools = batch.uuids(Inbox.Kind.POOL);
        // Whether an executor serves a pool depends on its nodes.
        changedPools.addAll(CapacityFacts.poolsOf(transaction, batch.uuids(Inbox.Kind.NODE)));
        if (!changedPools.isEmpty()) {
            CapacityFacts.pools(transaction, settings.executors(), CellReader.array(changedPools))
                    .forEach(pool -> addPool(pool, changes));
        }
        Set<UUID> changedNodes = batch.uuids(Inbox.Kind.NODE);
        changedNodes.addAll(
                CapacityFacts.unisolatedNodesOf(transaction, batch.uuids(Inbox.Kind.POOL, Inbox.Kind.ALLOTMENT)));
        changedNodes.addAll(heardAgain);
        heardAgain.clear();
        if (!changedNodes.isEmpty()) {
            List<UUID> heard = new ArrayList<>();
            for (NodeFact node : CapacityFacts.nodes(transaction, fence.stamp(), CellReader.array(changedNodes))) {
                addNode(node.heardAgain() ? node.withoutLoss() : node, changes);
                if (node.heardAgain()) {
                    heard.add(node.id());
                }
            }
            if (!heard.isEmpty()) {
                transaction.run("update node_contact set lost_at = null where node_id = any($1)", (Object)
                        CellReader.array(heard));
            }
        }
    }

    private Map<UUID, Long> lostNodes(SystemTransaction transaction, Fence fence, List<Change> changes) {
        Map<UUID, Long> lost = NodeLossHandler.markLostNodes(transaction, fence);
        if (!lost.isEmpty()) {
            CapacityFacts.nodes(transaction, fence.stamp(), CellReader.array(lost.keySet()))
                    .forEach(node -> addNode(node, changes));
        }
        return lost;
    }

    private Collection<WorkloadRecord> readAffected(
            CellReader reader, InboxBatch batch, Set<UUID> stepWorkloads, Set<UUID> lost) {
        Map<UUID, WorkloadRecord> found = new TreeMap<>();
        Set<UUID> named = batch.uuids(Inbox.Kind.WORKLOAD, Inbox.Kind.REPORT);
        named.addAll(stepWorkloads);
        Set<UUID> nodes = batch.uuids(Inbox.Kind.NODE);
        nodes.addAll(lost);
        List<List<WorkloadRecord>> reads = List.of(
                reader.readByIds(named),
                reader.readOnNodes(lost),
                reader.readPaused(nodes, batch.tenantsWithChangedQuotas()),
                reader.readWaiting("policy_id", batch.uuids(Inbox.Kind.POLICY)),
                reader.readWaiting("profile_id", batch.uuids(Inbox.Kind.PROFILE)),
                reader.readWaiting("queue_id", batch.uuids(Inbox.Kind.QUEUE)));
        reads.forEach(records -> records.forEach(record -> found.put(record.id(), record)));
        found.keySet().removeAll(locked);
        return found.values();
    }

    /**
     * The first policy that counts over all pools adds every tenant to that quota tree; when the last such policy is
     * gone, every tenant leaves it.
     */
    private List<QuotaFacts> changedQuotas(SystemTransaction transaction, Fence fence, InboxBatch batch) {
        Set<TenantId> tenants = new TreeSet<>(batch.tenantsWithChangedQuotas());
        transitions.forEach((tenant, at) -> {
            if (at <= fence.stampMillis()) {
                tenants.add(tenant);
            }
        });
        if (tenants.isEmpty()) {
            return List.of();
        }
        boolean before = allPools;
        allPools = QuotaFacts.anyCountsAllPools(transaction);
        return QuotaFacts.read(
                transaction,
                fence.stamp(),
                before == allPools ? tenants : CellFacts.readTenants(transaction),
                allPools);
    }

    /** Reads the missing records of the workloads that the plan decides about, as they are after this cycle's steps. */
    private static Map<UUID, WorkloadRecord> readMissing(
            CellReader reader, Plan plan, Map<UUID, WorkloadRecord> known, Map<UUID, WorkloadRecord> settled) {
        Set<UUID> wanted = new TreeSet<>();
        plan.decisions().forEach(decision -> {
            wanted.add(UUID.fromString(decision.workload().value()));
            PlanTranslation.preemptorOf(decision).ifPresent(wanted::add);
        });
        Map<UUID, WorkloadRecord> records = new TreeMap<>(known);
        records.putAll(settled);
        wanted.removeAll(records.keySet());
        reader.readByIds(wanted).forEach(record -> records.put(record.id(), record));
        return records;
    }

    private void addPool(PoolFact fact, List<Change> changes) {
        pools.put(fact.id(), fact.pool().id());
        poolIds.put(fact.pool().id(), fact.id());
        changes.add(fact.retired() ? new Change.PoolRemoved(fact.pool().id()) : new Change.PoolSet(fact.pool()));
    }

    private void addNode(NodeFact fact, List<Change> changes) {
        clusters.put(fact.id(), fact.cluster());
        if (fact.pauses()) {
            pausing.add(fact.id());
        } else {
            pausing.remove(fact.id());
        }
        changes.add(
                fact.retired()
                        ? new Change.NodeRemoved(new NodeId(fact.id().toString()))
                        : new Change.NodeSet(fact.node()));
    }

    private void addQuota(QuotaFacts fact, long nowMillis, List<Change> changes) {
        transitions.remove(fact.tenant());
        fact.nextTransition(nowMillis).ifPresent(at -> transitions.put(fact.tenant(), at));
        counterUpdater.setQuota(fact);
        unmet.setReserved(fact.tenant(), fact.reserved(), fact.fences());
        paths.putAll(fact.paths());
        publishedQuotas.publish(fact, changes);
    }

    private PoolId poolId(UUID id) {
        return requireKnown(pools.get(id), "pool", id);
    }

    private UUID pool(PoolId name) {
        return requireKnown(poolIds.get(name), "pool", name);
    }

    private QuotaPath path(UUID policy) {
        return requireKnown(paths.get(policy), "policy", policy);
    }

    private Binding binding(UUID workload) {
        return requireKnown(published.get(workload), "workload", workload);
    }

    private static <T> T requireKnown(@Nullable T value, String what, Object id) {
        return Optional.ofNullable(value)
                .orElseThrow(() -> new IllegalStateException("the leader does not know " + what + " " + id));
    }
}
