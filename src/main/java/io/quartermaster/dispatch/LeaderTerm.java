package io.quartermaster.dispatch;

import io.quartermaster.dispatch.commit.PlanFailedException;
import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.dispatch.quarantine.Quarantine;
import io.quartermaster.dispatch.quarantine.QuarantineRetry;
import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.transaction.ClockSkewException;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.LockedRowsException;
import io.quartermaster.dispatch.transaction.StalePlanException;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The cycles of one replica while it leads, and the recovery after a failed cycle.
 *
 * <p>After a failed cycle the engine is built again from the tables. The next cycle makes no plan
 * ({@link LifecyclePass}), so no report waits for the engine to recover. The failure decides what is blamed for it:
 *
 * <ul>
 *   <li>an outage, a timeout or a lock: nothing;
 *   <li>the plan, or writing it: never an inbox row. If the engine was just built, it is the workload of the invalid
 *       decision, or the result of a {@link PoisonWorkloadFinder};
 *   <li>anything before the plan: the inbox row that {@link PoisonRowFinder} finds, or the workload that it names.
 * </ul>
 *
 * <p>Single-threaded. The term does not take the leadership by itself: {@link #begin} sets its epoch.
 */
public final class LeaderTerm {

    private static final Logger LOG = Logger.getLogger(LeaderTerm.class);

    private static final int MAX_UNEXPLAINED_FAILURES = 2;
    private static final Duration LOCKED_WORK_EXCLUSION = Duration.ofSeconds(5);
    private static final Duration QUARANTINED_WORK_INTERVAL = Duration.ofSeconds(1);
    private static final String QUARANTINE_REASON = "every plan with it failed";

    /** The result of a cycle. */
    public sealed interface Result {

        /** The cycle made a plan. */
        record Planned(CellPlanner.Outcome outcome) implements Result {}

        /** The cycle applied reports and made no plan. */
        record Applied(LifecyclePass.Outcome outcome) implements Result {}

        /** Another replica leads. */
        record Deposed() implements Result {}

        /** This replica must not lead now, for example because of its clock. */
        record SteppedDown(String why) implements Result {}

        /** The plan's inputs changed in the meantime; the next cycle follows immediately. */
        record Repeated(String why) implements Result {}

        /** The cycle failed; the next one applies reports without a plan. */
        record Failed(Throwable cause) implements Result {}
    }

    private enum CycleKind {
        PLAN,
        APPLY
    }

    private final SystemDatabase database;
    private final LeaderSettings settings;
    private final PoisonRowFinder poisonRowFinder;
    private final PoisonWorkloadFinder poisonWorkloadFinder;
    private final Quarantine quarantine;
    private final LifecyclePass lifecycle;
    private final QuarantineRetry quarantineRetry;

    private long epoch;
    private @Nullable CellPlanner cellPlanner;
    private CycleKind next = CycleKind.PLAN;
    private int builds;
    private boolean builtInThisCycle;
    private int unexplainedFailures;
    private Set<UUID> locked = Set.of();
    private long lockedNanos;
    private long quarantinedWorkNanos = System.nanoTime() - QUARANTINED_WORK_INTERVAL.toNanos();

    public LeaderTerm(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
        this.poisonRowFinder = new PoisonRowFinder(settings.batch());
        this.poisonWorkloadFinder = new PoisonWorkloadFinder(database, settings);
        this.quarantine = new Quarantine(database, settings);
        this.lifecycle = new LifecyclePass(database, settings);
        this.quarantineRetry = new QuarantineRetry(database, settings);
    }

    /** Begins a term under this epoch. */
    public void begin(long newEpoch) {
        epoch = newEpoch;
        cellPlanner = null;
        next = CycleKind.PLAN;
        poisonRowFinder.beginTerm();
        quarantineRetry.beginTerm();
    }

    /** Discards the engine: the next plan uses an engine that is built from the tables. */
    void rebuild() {
        cellPlanner = null;
    }

    /** How often the term built the engine from the tables. */
    int builds() {
        return builds;
    }

    /** The planner after the last plan; empty while it has to be built. */
    Optional<CellPlanner> planner() {
        return Optional.ofNullable(cellPlanner);
    }

    /** Workloads that the cycles leave out because other transactions have locked their rows. */
    Set<UUID> locked() {
        return locked;
    }

    /** Whether the next cycle applies reports without a plan. */
    boolean appliesNext() {
        return next == CycleKind.APPLY;
    }

    public Result runCycle() {
        CycleKind kind = next;
        next = CycleKind.PLAN;
        try {
            return switch (kind) {
                case PLAN -> plan();
                case APPLY -> apply();
            };
        } catch (StalePlanException e) {
            cellPlanner = null;
            return new Result.Repeated(String.valueOf(e.getMessage()));
        } catch (ClockSkewException e) {
            cellPlanner = null;
            return new Result.SteppedDown(String.valueOf(e.getMessage()));
        } catch (LockedRowsException e) {
            cellPlanner = null;
            poisonRowFinder.recordInterruption();
            return excludeLocked(e) ? new Result.Repeated(String.valueOf(e.getMessage())) : new Result.Failed(e);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            cellPlanner = null;
            if (kind == CycleKind.PLAN) {
                next = CycleKind.APPLY;
                blame(e);
            }
            return new Result.Failed(e);
        }
    }

    private Result plan() {
        includeLockedAgain();
        runAndLog(quarantineRetry::beginCycle);
        Optional<Throwable> failedReadmission = Optional.empty();
        OptionalInt mostSteps = poisonRowFinder.maxStepsOfRetry();
        if (cellPlanner != null && quarantineRetry.isDue() && mostSteps.isPresent()) {
            switch (readmit(mostSteps.getAsInt())) {
                case ReadmissionResult.Completed(Result result) -> {
                    return result;
                }
                case ReadmissionResult.Failed(Throwable cause) -> failedReadmission = Optional.of(cause);
                case ReadmissionResult.Inconclusive() -> {}
            }
        }
        builtInThisCycle = false;
        PoisonRowFinder.Selection selection = poisonRowFinder.beginCycle();
        Optional<CellPlanner.Outcome> outcome = database.run(settings.bounds(), tx -> {
            Optional<Fence> fence = settings.fence(tx, epoch);
            return fence.map(held -> cycle(tx, held, selection));
        });
        if (outcome.isEmpty()) {
            return endTerm();
        }
        poisonRowFinder.recordSuccess();
        unexplainedFailures = 0;
        failedReadmission.ifPresent(cause -> quarantineRetry.recordFailure(epoch, cause));
        return new Result.Planned(withReadmission(withQuarantinedWork(outcome.get())));
    }

    private CellPlanner.Outcome cycle(SystemTransaction tx, Fence fence, PoisonRowFinder.Selection selection) {
        if (cellPlanner == null) {
            builtInThisCycle = true;
            builds++;
            cellPlanner = CellPlanner.build(tx, fence, settings, locked);
        }
        List<Row> rows = InboxBatch.readRows(tx, settings.cell(), selection, locked);
        poisonRowFinder.recordRead(InboxBatch.ids(rows), cellPlanner.hasPendingSteps(selection, fence.stampMillis()));
        return cellPlanner.cycle(tx, fence, InboxBatch.of(rows), selection);
    }

    /** The outcome of an attempt to readmit entries of the quarantine. */
    private sealed interface ReadmissionResult {

        /** The attempt was this cycle. */
        record Completed(Result result) implements ReadmissionResult {}

        /** The attempt failed; the entries may be the cause. */
        record Failed(Throwable cause) implements ReadmissionResult {}

        /** The attempt says nothing about the entries. */
        record Inconclusive() implements ReadmissionResult {}
    }

    /**
     * Tries due quarantine entries in a cycle of their own, with a second engine. If that fails, the present planner
     * stays.
     */
    private ReadmissionResult readmit(int maxSteps) {
        long begunNanos = System.nanoTime();
        Readmission readmission = new Readmission(maxSteps);
        try {
            boolean leads = database.run(settings.bounds(), tx -> settings.fence(tx, epoch)
                    .map(fence -> {
                        readmission.run(tx, fence);
                        return true;
                    })
                    .orElse(false));
            if (!leads) {
                return new ReadmissionResult.Completed(endTerm());
            }
            quarantineRetry.recordSuccess();
            if (readmission.outcome.isEmpty()) {
                return new ReadmissionResult.Inconclusive();
            }
            builds++;
            cellPlanner = readmission.planner.orElseThrow();
            return new ReadmissionResult.Completed(new Result.Planned(withReadmission(readmission.outcome.get())));
        } catch (ClockSkewException e) {
            throw e;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            if (readmission.reachedCommit) {
                // Only the tables show whether it was committed.
                cellPlanner = null;
            }
            if (e instanceof StalePlanException
                    || e instanceof LockedRowsException
                    || DatabaseFailures.isLockTimeout(e)) {
                quarantineRetry.postpone(LOCKED_WORK_EXCLUSION);
                return new ReadmissionResult.Inconclusive();
            }
            LOG.debugf(e, "the plan with the due entries of the quarantine failed");
            return new ReadmissionResult.Failed(e);
        } finally {
            quarantineRetry.pauseAfter(begunNanos);
        }
    }

    private final class Readmission {
        private final int maxSteps;
        private Optional<CellPlanner> planner = Optional.empty();
        private Optional<CellPlanner.Outcome> outcome = Optional.empty();
        private boolean reachedCommit;

        Readmission(int maxSteps) {
            this.maxSteps = maxSteps;
        }

        void run(SystemTransaction tx, Fence fence) {
            if (quarantineRetry.release(tx, fence)) {
                CellPlanner rebuilt = CellPlanner.build(tx, fence, settings, locked);
                outcome = Optional.of(
                        rebuilt.readmit(tx, fence, quarantineRetry.tenants(), quarantineRetry.workloads(), maxSteps));
                planner = Optional.of(rebuilt);
            }
            reachedCommit = true;
        }
    }

    /** Requests the next cycle immediately if entries of the quarantine are due for another try. */
    private CellPlanner.Outcome withReadmission(CellPlanner.Outcome planned) {
        if (cellPlanner != null && cellPlanner.hasQuarantined()) {
            runAndLog(quarantineRetry::poll);
        }
        return quarantineRetry.isDue() ? planned.withImmediateFollowUp() : planned;
    }

    private static void runAndLog(Runnable forEntries) {
        try {
            forEntries.run();
        } catch (RuntimeException e) {
            LOG.warnf("the due entries of the quarantine wait: %s", e.getMessage());
        }
    }

    /** Applies the reports on quarantined workloads too: now and then, apart from the plan. */
    private CellPlanner.Outcome withQuarantinedWork(CellPlanner.Outcome planned) {
        long now = System.nanoTime();
        if (cellPlanner == null
                || !cellPlanner.hasQuarantined()
                || now - quarantinedWorkNanos < QUARANTINED_WORK_INTERVAL.toNanos()) {
            return planned;
        }
        quarantinedWorkNanos = now;
        try {
            return lifecycle
                    .applyToQuarantined(epoch, locked)
                    .filter(done -> done.steps() > 0)
                    .map(planned::plus)
                    .orElse(planned);
        } catch (RuntimeException e) {
            LOG.warnf("the reports on quarantined workloads wait: %s", e.getMessage());
            return planned;
        }
    }

    private Result apply() {
        return lifecycle
                .applyToAll(epoch, locked)
                .map(outcome -> (Result) new Result.Applied(outcome))
                .orElseGet(this::endTerm);
    }

    private Result endTerm() {
        cellPlanner = null;
        return new Result.Deposed();
    }

    private void blame(Throwable failure) {
        if (DatabaseFailures.isTransient(failure)) {
            poisonRowFinder.recordTimeout();
        } else if (failure instanceof PlanFailedException plan) {
            poisonRowFinder.endSearch();
            if (builtInThisCycle) {
                blame(plan);
            }
        } else {
            boolean leftBefore = poisonRowFinder.skipsPendingSteps();
            poisonRowFinder.recordFailure().ifPresent(id -> {
                if (quarantine.quarantineRow(epoch, id)) {
                    poisonRowFinder.recordQuarantined();
                }
            });
            if (poisonRowFinder.skipsPendingSteps() && !leftBefore) {
                LOG.errorf(
                        failure,
                        "ALARM: cycles failed with work that no inbox row names: delayed workloads that are due,"
                                + " paused workloads whose time is over, or steps that the leader found pending in the"
                                + " tables. They wait for the next leader");
            }
            if (!poisonRowFinder.hasReadRows()) {
                recordUnexplained();
            }
        }
    }

    private void blame(PlanFailedException failure) {
        if (failure.blamed().isEmpty()
                || !quarantine.quarantineWorkload(epoch, failure.blamed().get(), QUARANTINE_REASON)) {
            recordUnexplained();
        }
    }

    private void recordUnexplained() {
        unexplainedFailures++;
        if (unexplainedFailures >= MAX_UNEXPLAINED_FAILURES) {
            unexplainedFailures = 0;
            poisonWorkloadFinder.run(epoch);
        }
    }

    /** Finds which of the rows are locked, and leaves them out of the next plans. Returns whether any row is locked. */
    private boolean excludeLocked(LockedRowsException failure) {
        Set<UUID> found = new TreeSet<>(failure.candidates());
        try {
            database.run(settings.bounds(), tx -> {
                for (Row row :
                        tx.run("select id from workload where id = any($1) for no key update skip locked", (Object)
                                CellReader.array(failure.candidates()))) {
                    found.remove(row.getUUID("id"));
                }
                return found;
            });
        } catch (RuntimeException e) {
            LOG.warnf("could not find out which workloads are locked: %s", e.getMessage());
            return false;
        }
        if (found.isEmpty()) {
            return false;
        }
        LOG.warnf(
                "another transaction has locked %d workloads for longer than %s: %s; the cycles of the next %s "
                        + "leave them out",
                found.size(), settings.bounds().lock(), abbreviate(found), LOCKED_WORK_EXCLUSION);
        found.addAll(locked);
        locked = Set.copyOf(found);
        lockedNanos = System.nanoTime();
        return true;
    }

    private static List<UUID> abbreviate(Set<UUID> workloads) {
        List<UUID> some = new ArrayList<>(workloads);
        return some.subList(0, Math.min(some.size(), 10));
    }

    private void includeLockedAgain() {
        if (!locked.isEmpty() && System.nanoTime() - lockedNanos > LOCKED_WORK_EXCLUSION.toNanos()) {
            locked = Set.of();
            cellPlanner = null;
        }
    }
}
