package io.quartermaster.dispatch;

import io.quartermaster.dispatch.commit.LifecycleWriter;
import io.quartermaster.dispatch.commit.NodeLossHandler;
import io.quartermaster.dispatch.lifecycle.LifecycleRules;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * A cycle of the leader without a plan: it applies reports of executors and requests of users. So it frees devices and
 * ends their usage even while no plan can be made, and for quarantined workloads. It needs no engine, and starts and
 * preempts nothing.
 *
 * <p>If the next step of a workload fails, the workload is quarantined and the other workloads continue.
 */
public final class LifecyclePass {

    private static final Logger LOG = Logger.getLogger(LifecyclePass.class);

    /** The most quarantined workloads that one cycle handles. */
    private static final int MAX_QUARANTINED = 50;

    private static final int MAX_WARNINGS = 10_000;

    private static final String UNREADABLE = "its stored row cannot be read";
    private static final String NO_STEP = "its next lifecycle step failed";

    /** The outcome, for the notifications after the commit. */
    public record Outcome(int steps, Set<UUID> touchedNodes, Set<TenantId> fedTenants) {

        private static Outcome of(int steps, PlanRows rows) {
            return new Outcome(steps, rows.touchedNodes(), rows.fedTenants());
        }

        private Outcome plus(Outcome other) {
            Set<UUID> nodes = new TreeSet<>(touchedNodes);
            nodes.addAll(other.touchedNodes);
            Set<TenantId> tenants = new TreeSet<>(fedTenants);
            tenants.addAll(other.fedTenants);
            return new Outcome(steps + other.steps, nodes, tenants);
        }
    }

    private static final Outcome NO_STEPS = new Outcome(0, Set.of(), Set.of());

    private final SystemDatabase database;
    private final LeaderSettings settings;
    private final Set<UUID> warnedAbout = new HashSet<>();
    private long lastServed;

    LifecyclePass(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /**
     * Handles all live workloads. It consumes the inbox rows that name workloads, so the engine must be built again
     * after it.
     *
     * @param locked workloads that it leaves out
     * @return empty if another replica leads
     */
    Optional<Outcome> applyToAll(long epoch, Set<UUID> locked) {
        try {
            return runFenced(epoch, (tx, fence) -> applyTogether(tx, fence, locked));
        } catch (RuntimeException e) {
            if (DatabaseFailures.isTransient(e)) {
                throw e;
            }
            LOG.warnf("reports cannot be applied together, so they are applied one by one: %s", e.getMessage());
            return runFenced(epoch, (tx, fence) -> {
                        NodeLossHandler.markLostNodes(tx, fence);
                        return withStep(reader(tx, fence).readLive().records(), locked);
                    })
                    .flatMap(records -> applyOneByOne(epoch, records, false));
        }
    }

    /**
     * Handles the quarantined workloads, each in a transaction of its own. The engine learns from the inbox what they
     * free.
     *
     * @return empty if another replica leads
     */
    Optional<Outcome> applyToQuarantined(long epoch, Set<UUID> locked) {
        return runFenced(
                        epoch,
                        (tx, fence) ->
                                withStep(reader(tx, fence).readQuarantined().records(), locked))
                .flatMap(records -> applyOneByOne(epoch, roundRobin(records), true));
    }

    /**
     * Chooses the next few workloads in order of submission, after those of the last call. They are few because a plan
     * waits for them.
     */
    private List<WorkloadRecord> roundRobin(List<WorkloadRecord> records) {
        List<WorkloadRecord> later = records.stream()
                .filter(record -> record.sequence() > lastServed)
                .toList();
        List<WorkloadRecord> some = (later.isEmpty() ? records : later)
                .stream().limit(MAX_QUARANTINED).toList();
        lastServed = some.isEmpty() ? 0 : some.getLast().sequence();
        return some;
    }

    private Outcome applyTogether(SystemTransaction tx, Fence fence, Set<UUID> locked) {
        Map<UUID, Long> lost = NodeLossHandler.markLostNodes(tx, fence);
        PlanRows rows = new PlanRows(fence);
        InboxBatch batch = InboxBatch.readOfWorkloads(tx, settings.cell(), settings.batch(), locked);
        QuarantinedWorkloads.cancel(tx, fence, rows, batch.uuids(Inbox.Kind.WORKLOAD));
        EngineFacts facts = facts(tx);
        CellReader.Readable live = reader(tx, fence).readLive();
        settings.advance(tx, fence);
        live.unreadable().forEach(sequence -> quarantine(tx, fence, sequence, UNREADABLE));
        int steps = 0;
        for (WorkloadRecord record : withStep(live.records(), locked)) {
            if (steps == settings.batch()) {
                break;
            }
            if (canWrite(record, fence, facts, lost)) {
                lifecycleWriter(rows, fence, facts, lost).write(record);
                steps++;
            } else {
                quarantine(tx, fence, record.sequence(), NO_STEP);
            }
        }
        rows.write(tx, settings.cell());
        batch.delete(tx);
        return Outcome.of(steps, rows);
    }

    private boolean canWrite(WorkloadRecord record, Fence fence, EngineFacts facts, Map<UUID, Long> lost) {
        try {
            lifecycleWriter(new PlanRows(fence), fence, facts, lost).write(record);
            return true;
        } catch (RuntimeException e) {
            LOG.debugf(e, "the next lifecycle step of workload %s failed", record.id());
            return false;
        }
    }

    private Optional<Outcome> applyOneByOne(long epoch, List<WorkloadRecord> records, boolean quarantined) {
        Optional<Outcome> outcome = Optional.of(NO_STEPS);
        for (WorkloadRecord record : records) {
            Optional<Outcome> one = applyAlone(epoch, record, quarantined);
            outcome = outcome.flatMap(sum -> one.map(sum::plus));
            if (outcome.isEmpty()) {
                return outcome;
            }
        }
        return outcome;
    }

    private Optional<Outcome> applyAlone(long epoch, WorkloadRecord record, boolean quarantined) {
        try {
            return runFenced(epoch, (tx, fence) -> {
                PlanRows rows = new PlanRows(fence);
                EngineFacts facts = facts(tx);
                LifecycleWriter lifecycleWriter = lifecycleWriter(rows, fence, facts, Map.of());
                lifecycleWriter.write(record);
                if (quarantined) {
                    WorkloadRecord after = lifecycleWriter.written().getOrDefault(record.id(), record);
                    if (after.state() instanceof WorkloadState.WithoutAttempt && !after.isOver()) {
                        rows.addReason(
                                after.id(),
                                QuarantinedWorkloads.CODE,
                                QuarantinedWorkloads.reason(facts.firstPool(after)));
                    }
                    postCapacityChanges(tx, record, rows);
                }
                rows.write(tx, settings.cell());
                return Outcome.of(1, rows);
            });
        } catch (RuntimeException e) {
            if (DatabaseFailures.isTransient(e)) {
                throw e;
            }
            if (warnedAbout.size() < MAX_WARNINGS && warnedAbout.add(record.id())) {
                LOG.errorf(
                        e, "the next lifecycle step of workload %s of tenant %s failed", record.id(), record.tenant());
            }
            return quarantined
                    ? Optional.of(NO_STEPS)
                    : runFenced(epoch, (tx, fence) -> {
                        quarantine(tx, fence, record.sequence(), NO_STEP);
                        return NO_STEPS;
                    });
        }
    }

    /**
     * Posts inbox rows for the nodes and pools of a quarantined workload, whose devices the engine regards as absent.
     * The engine then reads which of them are available.
     */
    private void postCapacityChanges(SystemTransaction tx, WorkloadRecord record, PlanRows rows) {
        tx.send(
                "insert into inbox (cell_id, kind, ref) select $1, 'node', unnest($2::uuid[])::text",
                settings.cell(),
                CellReader.array(rows.touchedNodes()));
        record.attempt()
                .ifPresent(attempt -> tx.send(
                        "insert into inbox (cell_id, kind, ref) values ($1, 'pool', $2)",
                        settings.cell(),
                        attempt.pool().toString()));
    }

    private void quarantine(SystemTransaction tx, Fence fence, long sequence, String why) {
        QuarantinedWorkloads.mark(tx, fence, settings.cell(), sequence, why)
                .ifPresent(which -> LOG.errorf("ALARM: %s is quarantined: %s", which, why));
    }

    private LifecycleWriter lifecycleWriter(PlanRows rows, Fence fence, EngineFacts facts, Map<UUID, Long> lost) {
        return new LifecycleWriter(rows, fence, facts, after -> {}, lost, settings.pausedForMillis());
    }

    private static List<WorkloadRecord> withStep(List<WorkloadRecord> records, Set<UUID> locked) {
        List<WorkloadRecord> found = new ArrayList<>();
        for (WorkloadRecord record : records) {
            if (!locked.contains(record.id()) && LifecycleRules.hasStep(record)) {
                found.add(record);
            }
        }
        return found;
    }

    private static CellReader reader(SystemTransaction tx, Fence fence) {
        return new CellReader(tx, fence.stampMillis());
    }

    private static EngineFacts facts(SystemTransaction tx) {
        Map<UUID, PoolId> pools = new HashMap<>();
        for (Row row : tx.run("select id, name from pool")) {
            pools.put(row.getUUID("id"), new PoolId(row.getString("name")));
        }
        Function<UUID, PoolId> known = id -> Optional.ofNullable(pools.get(id))
                .orElseThrow(() -> new IllegalStateException("pool " + id + " does not exist"));
        return new EngineFacts(known, policy -> {
            throw new IllegalStateException("a cycle without a plan must not ask for a quota");
        });
    }

    private interface FencedWork<T> {
        T run(SystemTransaction transaction, Fence fence);
    }

    private <T> Optional<T> runFenced(long epoch, FencedWork<T> work) {
        return database.run(settings.bounds(), tx -> settings.fence(tx, epoch).map(fence -> work.run(tx, fence)));
    }
}
