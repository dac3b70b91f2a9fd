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
 * Finds, when turns fail and no inbox row is to blame, what is stored that no plan can be made with, and sets it aside: it alone waits then, and not the cell. First
 * tenants whose allotments and policies make plans fail without any workload; then workloads that cannot be read; then a workload with which
 * plans fail. Plans are made and thrown away with the first tenants or the oldest workloads only, more or fewer by halves, until one is found with which they fail and without which they
 * do not. Where they fail with nothing of either the cause is elsewhere: then nothing is done.
 */
final class PoisonWorkloadFinder {

    private static final Logger LOG = Logger.getLogger(PoisonWorkloadFinder.class);

    /** Tenants, and workloads with which plans fail, that one examination sets aside at most. */
    private static final int MOST = 10;

    private static final String WHY = "every plan with it failed";

    private final SystemDatabase database;
    private final LeaderSettings settings;

    PoisonWorkloadFinder(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /** Returns how many were set aside; none when another leads, the database is away, or the cause is something else. */
    int run(long epoch) {
        int setAside = 0;
        try {
            while (setAside < MOST && findTenant(epoch)) {
                setAside++;
            }
            setAside += unreadable(epoch);
            for (int i = 0; i < MOST && findWorkload(epoch); i++) {
                setAside++;
            }
            for (int i = 0; i < MOST && findDecision(epoch); i++) {
                setAside++;
            }
        } catch (RuntimeException e) {
            LOG.warnf("stored workloads could not be examined: %s", e.getMessage());
        }
        return setAside;
    }

    private boolean findTenant(long epoch) {
        List<TenantId> tenants = List.copyOf(
                fenced(epoch, (tx, fence) -> CellFacts.everyTenant(tx)).orElseGet(TreeSet::new));
        if (tenants.isEmpty() || canPlan(epoch, Extent.ofWorkloads(0))) {
            return false;
        }
        return firstBad(tenants.size(), count -> canPlan(epoch, tenants(tenants, count)))
                .map(bad -> setAside(epoch, tenants.get(bad - 1)))
                .orElse(false);
    }

    /** What the first so many tenants were granted; with none of them the cause shows that is elsewhere. */
    private static Extent tenants(List<TenantId> tenants, int count) {
        return count == 0 ? Extent.NOTHING : Extent.ofTenants(tenants.get(count - 1));
    }

    /** Workloads that are none as this version knows them: all of them at once, as when a profile cannot be read. */
    private int unreadable(long epoch) {
        List<Long> found = fenced(epoch, (tx, fence) -> new CellReader(tx, fence.stampMillis()).unreadable())
                .orElseGet(List::of);
        int setAside = 0;
        for (long sequence : found) {
            setAside += setAside(epoch, sequence) ? 1 : 0;
        }
        return setAside;
    }

    private boolean findWorkload(long epoch) {
        long[] sequences = fenced(epoch, (tx, fence) -> new CellReader(tx, fence.stampMillis()).liveSequences())
                .orElseGet(() -> new long[0]);
        if (sequences.length == 0 || canPlan(epoch, Extent.ALL)) {
            return false;
        }
        return firstBad(
                        sequences.length,
                        count -> canPlan(epoch, Extent.ofWorkloads(count == 0 ? 0 : sequences[count - 1])))
                .map(bad -> setAside(epoch, sequences[bad - 1]))
                .orElse(false);
    }

    /** With how many of the first plans fail that do not with one fewer; empty where they fail with none or not at all. */
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
        // Once more around it: an outage in between must not look like its fault.
        return canPlan.test(good) && !canPlan.test(bad) && canPlan.test(good) ? Optional.of(bad) : Optional.empty();
    }

    /** The first decision of a plan that contradicts what is stored or that the database refuses; that for which it is made is to blame. */
    private boolean findDecision(long epoch) {
        List<Decision> decisions = fenced(epoch, (tx, fence) -> CellPlanner.plan(tx, fence, settings)
                        .decisions())
                .orElseGet(List::of);
        if (decisions.isEmpty() || canWrite(epoch, decisions.size())) {
            return false;
        }
        return firstBad(decisions.size(), most -> canWrite(epoch, most))
                .map(bad -> decisions.get(bad - 1))
                .map(decision -> PlanTranslation.successor(decision)
                        .orElseGet(() -> UUID.fromString(decision.workload().value())))
                .map(workload -> setAside(epoch, workload))
                .orElse(false);
    }

    private boolean canPlan(long epoch, Extent extent) {
        return succeeds(epoch, (tx, fence) -> CellPlanner.dryRun(tx, fence, settings, extent));
    }

    private boolean canWrite(long epoch, int mostDecisions) {
        return succeeds(epoch, (tx, fence) -> CellPlanner.dryRun(tx, fence, settings, mostDecisions));
    }

    /** A plan that takes too long, or meets an outage, proves nothing: that ends the examination. */
    private boolean succeeds(long epoch, BiConsumer<SystemTransaction, Fence> rehearsal) {
        try {
            fenced(epoch, (tx, fence) -> {
                rehearsal.accept(tx, fence);
                throw new Rehearsed();
            });
            return false;
        } catch (Rehearsed e) {
            return true;
        } catch (RuntimeException e) {
            if (DatabaseFailures.isTransient(e)) {
                throw e;
            }
            LOG.debugf("no plan: %s", e.getMessage());
            return false;
        }
    }

    /** Rolls back what a rehearsal wrote. */
    private static final class Rehearsed extends RuntimeException {

        private static final long serialVersionUID = 1L;

        Rehearsed() {
            super("the plan could be made and written", null, false, false);
        }
    }

    private boolean setAside(long epoch, long sequence) {
        return alarm(
                fenced(epoch, (tx, fence) -> QuarantinedWorkloads.mark(tx, fence, settings.cell(), sequence, WHY)));
    }

    private boolean setAside(long epoch, UUID workload) {
        return alarm(
                fenced(epoch, (tx, fence) -> QuarantinedWorkloads.mark(tx, fence, settings.cell(), workload, WHY)));
    }

    private static boolean alarm(Optional<Optional<String>> marked) {
        Optional<String> which = marked.flatMap(Function.identity());
        which.ifPresent(one -> LOG.errorf(
                "ALARM: %s is set aside: every plan with it failed. What it holds stays its own; the leader tries again by itself after a while",
                one));
        return which.isPresent();
    }

    private boolean setAside(long epoch, TenantId tenant) {
        boolean marked = fenced(epoch, (tx, fence) -> QuarantinedTenants.mark(tx, fence, tenant, WHY))
                .orElse(false);
        if (marked) {
            LOG.errorf(
                    "ALARM: tenant %s is set aside: every plan with its allotments and policies failed. Nothing of it starts, what it holds stays its own; the"
                            + " leader tries again by itself after a while",
                    tenant.value());
        }
        return marked;
    }

    private interface Work<T> {
        T with(SystemTransaction transaction, Fence fence);
    }

    /** Empty when another leads. */
    private <T> Optional<T> fenced(long epoch, Work<T> work) {
        return database.run(settings.bounds(), tx -> settings.fence(tx, epoch).map(fence -> work.with(tx, fence)));
    }
}
