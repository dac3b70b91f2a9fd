package io.quartermaster.dispatch;

import io.quartermaster.dispatch.commit.PlanTranslation;
import io.quartermaster.dispatch.read.CellFacts;
import io.quartermaster.dispatch.read.CellFacts.Extent;
import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.read.QuarantinedTenants;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.IntPredicate;
import org.jboss.logging.Logger;

/**
 * Finds the stored tenant or workload with which every plan fails, when cycles fail and no inbox row is to blame. It
 * quarantines that tenant or workload, so that only this one waits and not the cell.
 *
 * <p>It tests first for tenants whose allotments and policies make plans fail without any workload. Then it looks for
 * unreadable workloads, and then for a workload with which plans fail. For each test it makes plans with only the first
 * tenants or the oldest workloads and discards them. A binary search finds the one with which plans fail and without
 * which they succeed. If plans fail even without tenants and workloads, the cause is elsewhere and it does nothing.
 */
final class PoisonWorkloadFinder {

    private static final Logger LOG = Logger.getLogger(PoisonWorkloadFinder.class);

    /** The most tenants, or workloads with which plans fail, that one run quarantines. */
    private static final int MAX_QUARANTINED = 10;

    private static final String QUARANTINE_REASON = "every plan with it failed";

    private final SystemDatabase database;
    private final LeaderSettings settings;

    PoisonWorkloadFinder(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /**
     * Returns how many entries it quarantined: none if another replica leads, the database is down, or the cause is
     * elsewhere.
     */
    int run(long epoch) {
        int quarantined = 0;
        try {
            while (quarantined < MAX_QUARANTINED && findTenant(epoch)) {
                quarantined++;
            }
            quarantined += quarantineUnreadable(epoch);
            for (int i = 0; i < MAX_QUARANTINED && findWorkload(epoch); i++) {
                quarantined++;
            }
            for (int i = 0; i < MAX_QUARANTINED && findDecision(epoch); i++) {
                quarantined++;
            }
        } catch (RuntimeException e) {
            LOG.warnf("could not examine the stored workloads: %s", e.getMessage());
        }
        return quarantined;
    }

    private boolean findTenant(long epoch) {
        List<TenantId> tenants = List.copyOf(
                runFenced(epoch, (tx, fence) -> CellFacts.readTenants(tx)).orElseGet(TreeSet::new));
        if (tenants.isEmpty() || canPlan(epoch, Extent.ofWorkloads(0))) {
            return false;
        }
        return firstBad(tenants.size(), count -> canPlan(epoch, throughTenant(tenants, count)))
                .map(bad -> quarantine(epoch, tenants.get(bad - 1)))
                .orElse(false);
    }

    /** The terms of the first tenants. If plans fail without any tenant, the cause is elsewhere. */
    private static Extent throughTenant(List<TenantId> tenants, int count) {
        return count == 0 ? Extent.NOTHING : Extent.ofTenants(tenants.get(count - 1));
    }

    /**
     * Quarantines the workloads that this version cannot read: all in one run, because one unreadable profile affects
     * many.
     */
    private int quarantineUnreadable(long epoch) {
        List<Long> found = runFenced(
                        epoch, (tx, fence) -> new CellReader(tx, fence.stampMillis()).unreadableSequences())
                .orElseGet(List::of);
        int quarantined = 0;
        for (long sequence : found) {
            quarantined += quarantine(epoch, sequence) ? 1 : 0;
        }
        return quarantined;
    }

    private boolean findWorkload(long epoch) {
        long[] sequences = runFenced(epoch, (tx, fence) -> new CellReader(tx, fence.stampMillis()).liveSequences())
                .orElseGet(() -> new long[0]);
        if (sequences.length == 0 || canPlan(epoch, Extent.ALL)) {
            return false;
        }
        return firstBad(
                        sequences.length,
                        count -> canPlan(epoch, Extent.ofWorkloads(count == 0 ? 0 : sequences[count - 1])))
                .map(bad -> quarantine(epoch, sequences[bad - 1]))
                .orElse(false);
    }

    /** The smallest count with which plans fail. Empty if they fail even with a count of 0, or do not fail at all. */
    private static Optional<Integer> firstBad(int size, IntPredicate canPlan) {
        if (!canPlan.test(0)) {
            return Optional.empty();
        }
        int good = 0;
        int bad = size;
        while (bad - good > 1) {
            int middle = (good + bad) >>> 1;
            if (canPlan.test(middle)) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        // Test both counts again: an outage in between must not look like the fault of this one.
        return canPlan.test(good) && !canPlan.test(bad) && canPlan.test(good) ? Optional.of(bad) : Optional.empty();
    }

    /**
     * Finds the first decision of a plan that contradicts the stored state or that the database refuses. The workload
     * for which the decision is made is to blame.
     */
    private boolean findDecision(long epoch) {
        List<Decision> decisions = runFenced(epoch, (tx, fence) -> CellPlanner.plan(tx, fence, settings)
                        .decisions())
                .orElseGet(List::of);
        if (decisions.isEmpty() || canWrite(epoch, decisions.size())) {
            return false;
        }
        return firstBad(decisions.size(), max -> canWrite(epoch, max))
                .map(bad -> decisions.get(bad - 1))
                .map(decision -> PlanTranslation.preemptorOf(decision)
                        .orElseGet(() -> UUID.fromString(decision.workload().value())))
                .map(workload -> quarantine(epoch, workload))
                .orElse(false);
    }

    private boolean canPlan(long epoch, Extent extent) {
        return succeeds(epoch, (tx, fence) -> CellPlanner.dryRun(tx, fence, settings, extent));
    }

    private boolean canWrite(long epoch, int maxDecisions) {
        return succeeds(epoch, (tx, fence) -> CellPlanner.dryRun(tx, fence, settings, maxDecisions));
    }

    /** Makes a trial plan. A plan that takes too long, or meets an outage, proves nothing and ends the run. */
    private boolean succeeds(long epoch, BiConsumer<SystemTransaction, Fence> dryRun) {
        try {
            runFenced(epoch, (tx, fence) -> {
                dryRun.accept(tx, fence);
                throw new DryRunCompleted();
            });
            return false;
        } catch (DryRunCompleted e) {
            return true;
        } catch (RuntimeException e) {
            if (DatabaseFailures.isTransient(e)) {
                throw e;
            }
            LOG.debugf("a trial plan failed: %s", e.getMessage());
            return false;
        }
    }

    /** Rolls back the writes of a trial plan. */
    private static final class DryRunCompleted extends RuntimeException {

        private static final long serialVersionUID = 1L;

        DryRunCompleted() {
            super("the plan could be made and written", null, false, false);
        }
    }

    private boolean quarantine(long epoch, long sequence) {
        return raiseAlarm(runFenced(
                epoch,
                (tx, fence) -> QuarantinedWorkloads.mark(tx, fence, settings.cell(), sequence, QUARANTINE_REASON)));
    }

    private boolean quarantine(long epoch, UUID workload) {
        return raiseAlarm(runFenced(
                epoch,
                (tx, fence) -> QuarantinedWorkloads.mark(tx, fence, settings.cell(), workload, QUARANTINE_REASON)));
    }

    private static boolean raiseAlarm(Optional<Optional<String>> marked) {
        Optional<String> which = marked.flatMap(Function.identity());
        which.ifPresent(one -> LOG.errorf(
                "ALARM: %s is quarantined: every plan with it failed. It keeps what it holds; the leader retries it "
                        + "by itself after a while",
                one));
        return which.isPresent();
    }

    private boolean quarantine(long epoch, TenantId tenant) {
        boolean marked = runFenced(epoch, (tx, fence) -> QuarantinedTenants.mark(tx, fence, tenant, QUARANTINE_REASON))
                .orElse(false);
        if (marked) {
            LOG.errorf(
                    "ALARM: tenant %s is quarantined: every plan with its allotments and policies failed. None of "
                            + "its workloads starts, and they keep what they hold; the"
                            + " leader retries the tenant by itself after a while",
                    tenant.value());
        }
        return marked;
    }

    private interface FencedWork<T> {
        T run(SystemTransaction transaction, Fence fence);
    }

    /** Empty if another replica leads. */
    private <T> Optional<T> runFenced(long epoch, FencedWork<T> work) {
        return database.run(settings.bounds(), tx -> settings.fence(tx, epoch).map(fence -> work.run(tx, fence)));
    }
}
