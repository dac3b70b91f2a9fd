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
 * The turns of one replica while it leads, and how it goes on after a turn that failed.
 *
 * <p>A failed turn costs the engine, which is built again from the tables. After it comes a turn without a plan ({@link LifecyclePass}), so
 * that no report waits for the engine to be well. What a failure blames depends on what failed:
 *
 * <ul>
 *   <li>an outage, a timeout or a lock: nothing;
 *   <li>the plan, or writing it: never an inbox row. If the engine was just built, the workload that the invalid decision is for, or what an
 *       {@link PoisonWorkloadFinder} finds;
 *   <li>anything before the plan: the inbox row that {@link PoisonRowFinder} finds, or the workload that it names.
 * </ul>
 *
 * <p>One thread. It leads nothing by itself: {@link #begin} says under which epoch.
 */
public final class LeaderTerm {

    private static final Logger LOG = Logger.getLogger(LeaderTerm.class);

    private static final int FAILURES_UNTIL_EXAMINED = 2;
    private static final Duration LOCKED_WORK_LEFT_OUT = Duration.ofSeconds(5);
    private static final Duration SET_ASIDE_WORK_EVERY = Duration.ofSeconds(1);
    private static final String WHY = "every plan with it failed";

    /** How a turn went. */
    public sealed interface Result {

        /** It planned. */
        record Planned(CellPlanner.Outcome outcome) implements Result {}

        /** It applied reports and planned nothing. */
        record Applied(LifecyclePass.Outcome outcome) implements Result {}

        /** Another replica leads. */
        record Deposed() implements Result {}

        /** This replica must not lead now. */
        record SteppedDown(String why) implements Result {}

        /** What the plan was made of is not so any more; the next turn comes at once. */
        record Repeated(String why) implements Result {}

        /** It failed; the next applies reports without a plan. */
        record Failed(Throwable cause) implements Result {}
    }

    private enum Kind {
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
    private Kind next = Kind.PLAN;
    private int builds;
    private boolean builtInThisTurn;
    private int failuresUnexplained;
    private Set<UUID> locked = Set.of();
    private long lockedNanos;
    private long setAsideWorkNanos = System.nanoTime() - SET_ASIDE_WORK_EVERY.toNanos();

    public LeaderTerm(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
        this.poisonRowFinder = new PoisonRowFinder(settings.batch());
        this.poisonWorkloadFinder = new PoisonWorkloadFinder(database, settings);
        this.quarantine = new Quarantine(database, settings);
        this.lifecycle = new LifecyclePass(database, settings);
        this.quarantineRetry = new QuarantineRetry(database, settings);
    }

    /** Leads under this epoch from now on. */
    public void begin(long newEpoch) {
        epoch = newEpoch;
        cellPlanner = null;
        next = Kind.PLAN;
        poisonRowFinder.lead();
        quarantineRetry.lead();
    }

    /** Throws the engine away: the next plan is made with one that is built from the tables. */
    void rebuild() {
        cellPlanner = null;
    }

    /** How often the engine was built from the tables. */
    int builds() {
        return builds;
    }

    /** The engine's and the counters' state after the last plan; empty while the engine has to be built. */
    Optional<CellPlanner> leader() {
        return Optional.ofNullable(cellPlanner);
    }

    /** Workloads that the turns leave out because others have locked their rows. */
    Set<UUID> locked() {
        return locked;
    }

    /** Whether the next turn applies reports without a plan. */
    boolean appliesNext() {
        return next == Kind.APPLY;
    }

    public Result turn() {
        Kind kind = next;
        next = Kind.PLAN;
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
            poisonRowFinder.interrupted();
            return leaveOut(e) ? new Result.Repeated(String.valueOf(e.getMessage())) : new Result.Failed(e);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            cellPlanner = null;
            if (kind == Kind.PLAN) {
                next = Kind.APPLY;
                blame(e);
            }
            return new Result.Failed(e);
        }
    }

    private Result plan() {
        includeLockedAgain();
        look(quarantineRetry::begin);
        Optional<Throwable> failedTry = Optional.empty();
        OptionalInt mostSteps = poisonRowFinder.stepsOfTry();
        if (cellPlanner != null && quarantineRetry.isDue() && mostSteps.isPresent()) {
            switch (readmit(mostSteps.getAsInt())) {
                case Readmitted.Went(Result result) -> {
                    return result;
                }
                case Readmitted.Failed(Throwable cause) -> failedTry = Optional.of(cause);
                case Readmitted.Passed() -> {}
            }
        }
        builtInThisTurn = false;
        PoisonRowFinder.Take take = poisonRowFinder.take();
        Optional<CellPlanner.Outcome> outcome = database.run(settings.bounds(), tx -> {
            Optional<Fence> fence = settings.fence(tx, epoch);
            return fence.map(held -> cycle(tx, held, take));
        });
        if (outcome.isEmpty()) {
            return deposed();
        }
        poisonRowFinder.succeeded();
        failuresUnexplained = 0;
        failedTry.ifPresent(cause -> quarantineRetry.failed(epoch, cause));
        return new Result.Planned(withReadmission(withSetAsideWork(outcome.get())));
    }

    private CellPlanner.Outcome cycle(SystemTransaction tx, Fence fence, PoisonRowFinder.Take take) {
        if (cellPlanner == null) {
            builtInThisTurn = true;
            builds++;
            cellPlanner = CellPlanner.build(tx, fence, settings, locked);
        }
        List<Row> rows = InboxBatch.rows(tx, settings.cell(), take, locked);
        poisonRowFinder.took(InboxBatch.ids(rows), cellPlanner.hasPendingSteps(take, fence.stampMillis()));
        return cellPlanner.cycle(tx, fence, InboxBatch.of(rows), take);
    }

    /** The outcome of a try to take entries of the quarantine back. */
    private sealed interface Readmitted {

        /** This turn is over. */
        record Went(Result result) implements Readmitted {}

        /** They may be to blame. */
        record Failed(Throwable cause) implements Readmitted {}

        /** Nothing was learned about them. */
        record Passed() implements Readmitted {}
    }

    /** Tries due quarantine entries in their own turn, with a second engine. If it fails, the present leader goes on. */
    private Readmitted readmit(int mostSteps) {
        long begunNanos = System.nanoTime();
        Try attempted = new Try(mostSteps);
        try {
            boolean leads = database.run(settings.bounds(), tx -> settings.fence(tx, epoch)
                    .map(fence -> {
                        attempted.run(tx, fence);
                        return true;
                    })
                    .orElse(false));
            if (!leads) {
                return new Readmitted.Went(deposed());
            }
            quarantineRetry.succeeded();
            if (attempted.outcome.isEmpty()) {
                return new Readmitted.Passed();
            }
            builds++;
            cellPlanner = attempted.engine.orElseThrow();
            return new Readmitted.Went(new Result.Planned(withReadmission(attempted.outcome.get())));
        } catch (ClockSkewException e) {
            throw e;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            if (attempted.isToBeCommitted) {
                // Whether it was, the tables say.
                cellPlanner = null;
            }
            if (e instanceof StalePlanException
                    || e instanceof LockedRowsException
                    || DatabaseFailures.isLockTimeout(e)) {
                quarantineRetry.noneFor(LOCKED_WORK_LEFT_OUT);
                return new Readmitted.Passed();
            }
            LOG.debugf(e, "no plan with what is due in the quarantine");
            return new Readmitted.Failed(e);
        } finally {
            quarantineRetry.rest(begunNanos);
        }
    }

    private final class Try {
        private final int mostSteps;
        private Optional<CellPlanner> engine = Optional.empty();
        private Optional<CellPlanner.Outcome> outcome = Optional.empty();
        private boolean isToBeCommitted;

        Try(int mostSteps) {
            this.mostSteps = mostSteps;
        }

        void run(SystemTransaction tx, Fence fence) {
            if (quarantineRetry.takeBack(tx, fence)) {
                CellPlanner knowsThem = CellPlanner.build(tx, fence, settings, locked);
                outcome = Optional.of(knowsThem.readmit(
                        tx, fence, quarantineRetry.tenants(), quarantineRetry.workloads(), mostSteps));
                engine = Optional.of(knowsThem);
            }
            isToBeCommitted = true;
        }
    }

    /** The next turn comes at once when entries of the quarantine are due for another try. */
    private CellPlanner.Outcome withReadmission(CellPlanner.Outcome planned) {
        if (cellPlanner != null && cellPlanner.isAnyQuarantined()) {
            look(quarantineRetry::look);
        }
        return quarantineRetry.isDue() ? planned.followedAtOnce() : planned;
    }

    private static void look(Runnable forEntries) {
        try {
            forEntries.run();
        } catch (RuntimeException e) {
            LOG.warnf("what is due in the quarantine waits: %s", e.getMessage());
        }
    }

    /** What is set aside is reported on, too; looked at now and then, apart from the plan. */
    private CellPlanner.Outcome withSetAsideWork(CellPlanner.Outcome planned) {
        long now = System.nanoTime();
        if (cellPlanner == null
                || !cellPlanner.isAnyQuarantined()
                || now - setAsideWorkNanos < SET_ASIDE_WORK_EVERY.toNanos()) {
            return planned;
        }
        setAsideWorkNanos = now;
        try {
            return lifecycle
                    .ofQuarantined(epoch, locked)
                    .filter(done -> done.steps() > 0)
                    .map(planned::and)
                    .orElse(planned);
        } catch (RuntimeException e) {
            LOG.warnf("reports on work that is set aside wait: %s", e.getMessage());
            return planned;
        }
    }

    private Result apply() {
        return lifecycle
                .ofAll(epoch, locked)
                .map(outcome -> (Result) new Result.Applied(outcome))
                .orElseGet(this::deposed);
    }

    private Result deposed() {
        cellPlanner = null;
        return new Result.Deposed();
    }

    private void blame(Throwable failure) {
        if (DatabaseFailures.isTransient(failure)) {
            poisonRowFinder.timedOut();
        } else if (failure instanceof PlanFailedException plan) {
            poisonRowFinder.acquit();
            if (builtInThisTurn) {
                blame(plan);
            }
        } else {
            boolean leftBefore = poisonRowFinder.leavesLeftovers();
            poisonRowFinder.failed().ifPresent(id -> {
                if (quarantine.row(epoch, id)) {
                    poisonRowFinder.wasSetAside();
                }
            });
            if (poisonRowFinder.leavesLeftovers() && !leftBefore) {
                LOG.errorf(
                        failure,
                        "ALARM: turns failed with work that no inbox row names: delayed work whose time has come, paused work that is to be given up,"
                                + " or what the leader found unfinished. It waits for the next leader");
            }
            if (!poisonRowFinder.tookRows()) {
                unexplained();
            }
        }
    }

    private void blame(PlanFailedException failure) {
        if (failure.blamed().isEmpty()
                || !quarantine.workload(epoch, failure.blamed().get(), WHY)) {
            unexplained();
        }
    }

    private void unexplained() {
        failuresUnexplained++;
        if (failuresUnexplained >= FAILURES_UNTIL_EXAMINED) {
            failuresUnexplained = 0;
            poisonWorkloadFinder.run(epoch);
        }
    }

    /** Finds which of the rows are locked, and plans without them for a while. Returns whether any is. */
    private boolean leaveOut(LockedRowsException failure) {
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
            LOG.warnf("locked workloads cannot be told from others: %s", e.getMessage());
            return false;
        }
        if (found.isEmpty()) {
            return false;
        }
        LOG.warnf(
                "another transaction has locked %d workloads for longer than %s: %s; the turns of the next %s leave them out",
                found.size(), settings.bounds().lock(), shown(found), LOCKED_WORK_LEFT_OUT);
        found.addAll(locked);
        locked = Set.copyOf(found);
        lockedNanos = System.nanoTime();
        return true;
    }

    private static List<UUID> shown(Set<UUID> workloads) {
        List<UUID> some = new ArrayList<>(workloads);
        return some.subList(0, Math.min(some.size(), 10));
    }

    private void includeLockedAgain() {
        if (!locked.isEmpty() && System.nanoTime() - lockedNanos > LOCKED_WORK_LEFT_OUT.toNanos()) {
            locked = Set.of();
            cellPlanner = null;
        }
    }
}
