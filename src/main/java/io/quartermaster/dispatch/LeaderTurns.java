package io.quartermaster.dispatch;

import io.quartermaster.dispatch.commit.PlanFailure;
import io.quartermaster.dispatch.quarantine.Readmission;
import io.quartermaster.dispatch.quarantine.SetAside;
import io.quartermaster.dispatch.quarantine.Suspicion;
import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.transaction.ClockSkew;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.LockedRows;
import io.quartermaster.dispatch.transaction.Overtaken;

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
 * <p>A failed turn costs the engine, which is built again from the tables. After it comes a turn without a plan ({@link LifecycleTurn}), so
 * that no report waits for the engine to be well. What a failure blames depends on what failed:
 *
 * <ul>
 *   <li>an outage, a timeout or a lock: nothing;
 *   <li>the plan, or writing it: never an inbox row. If the engine was just built, the workload that the invalid decision is for, or what an
 *       {@link Examination} finds;
 *   <li>anything before the plan: the inbox row that {@link Suspicion} finds, or the workload that it names.
 * </ul>
 *
 * <p>One thread. It leads nothing by itself: {@link #begin} says under which epoch.
 */
public final class LeaderTurns {

    private static final Logger LOG = Logger.getLogger(LeaderTurns.class);

    private static final int FAILURES_UNTIL_EXAMINED = 2;
    private static final Duration LOCKED_WORK_LEFT_OUT = Duration.ofSeconds(5);
    private static final Duration SET_ASIDE_WORK_EVERY = Duration.ofSeconds(1);
    private static final String WHY = "every plan with it failed";

    /** How a turn went. */
    public sealed interface Result {

        /** It planned. */
        record Planned(Leader.Outcome outcome) implements Result {}

        /** It applied reports and planned nothing. */
        record Applied(LifecycleTurn.Outcome outcome) implements Result {}

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
    private final Suspicion suspicion;
    private final Examination examination;
    private final SetAside setAside;
    private final LifecycleTurn lifecycle;
    private final Readmission readmission;

    private long epoch;
    private @Nullable Leader leader;
    private Kind next = Kind.PLAN;
    private int builds;
    private boolean builtInThisTurn;
    private int failuresUnexplained;
    private Set<UUID> locked = Set.of();
    private long lockedNanos;
    private long setAsideWorkNanos = System.nanoTime() - SET_ASIDE_WORK_EVERY.toNanos();

    public LeaderTurns(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
        this.suspicion = new Suspicion(settings.batch());
        this.examination = new Examination(database, settings);
        this.setAside = new SetAside(database, settings);
        this.lifecycle = new LifecycleTurn(database, settings);
        this.readmission = new Readmission(database, settings);
    }

    /** Leads under this epoch from now on. */
    public void begin(long newEpoch) {
        epoch = newEpoch;
        leader = null;
        next = Kind.PLAN;
        suspicion.lead();
        readmission.lead();
    }

    /** Throws the engine away: the next plan is made with one that is built from the tables. */
    void rebuild() {
        leader = null;
    }

    /** How often the engine was built from the tables. */
    int builds() {
        return builds;
    }

    /** The engine's and the counters' state after the last plan; empty while the engine has to be built. */
    Optional<Leader> leader() {
        return Optional.ofNullable(leader);
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
        } catch (Overtaken e) {
            leader = null;
            return new Result.Repeated(String.valueOf(e.getMessage()));
        } catch (ClockSkew e) {
            leader = null;
            return new Result.SteppedDown(String.valueOf(e.getMessage()));
        } catch (LockedRows e) {
            leader = null;
            suspicion.interrupted();
            return leaveOut(e) ? new Result.Repeated(String.valueOf(e.getMessage())) : new Result.Failed(e);
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            leader = null;
            if (kind == Kind.PLAN) {
                next = Kind.APPLY;
                blame(e);
            }
            return new Result.Failed(e);
        }
    }

    private Result plan() {
        includeLockedAgain();
        look(readmission::begin);
        Optional<Throwable> failedTry = Optional.empty();
        OptionalInt mostSteps = suspicion.stepsOfTry();
        if (leader != null && readmission.isDue() && mostSteps.isPresent()) {
            switch (readmit(mostSteps.getAsInt())) {
                case Readmitted.Went(Result result) -> {
                    return result;
                }
                case Readmitted.Failed(Throwable cause) -> failedTry = Optional.of(cause);
                case Readmitted.Passed() -> {}
            }
        }
        builtInThisTurn = false;
        Suspicion.Take take = suspicion.take();
        Optional<Leader.Outcome> outcome = database.run(settings.bounds(), tx -> {
            Optional<Fence> fence = settings.fence(tx, epoch);
            return fence.map(held -> cycle(tx, held, take));
        });
        if (outcome.isEmpty()) {
            return deposed();
        }
        suspicion.succeeded();
        failuresUnexplained = 0;
        failedTry.ifPresent(cause -> readmission.failed(epoch, cause));
        return new Result.Planned(withReadmission(withSetAsideWork(outcome.get())));
    }

    private Leader.Outcome cycle(SystemTransaction tx, Fence fence, Suspicion.Take take) {
        if (leader == null) {
            builtInThisTurn = true;
            builds++;
            leader = Leader.build(tx, fence, settings, locked);
        }
        List<Row> rows = InboxBatch.rows(tx, settings.cell(), take, locked);
        suspicion.took(InboxBatch.ids(rows), leader.hasLeftovers(take, fence.stampMillis()));
        return leader.cycle(tx, fence, InboxBatch.of(rows), take);
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
            readmission.succeeded();
            if (attempted.outcome.isEmpty()) {
                return new Readmitted.Passed();
            }
            builds++;
            leader = attempted.engine.orElseThrow();
            return new Readmitted.Went(new Result.Planned(withReadmission(attempted.outcome.get())));
        } catch (ClockSkew e) {
            throw e;
        } catch (RuntimeException | AssertionError | StackOverflowError e) {
            if (attempted.isToBeCommitted) {
                // Whether it was, the tables say.
                leader = null;
            }
            if (e instanceof Overtaken || e instanceof LockedRows || DatabaseFailures.isLockTimeout(e)) {
                readmission.noneFor(LOCKED_WORK_LEFT_OUT);
                return new Readmitted.Passed();
            }
            LOG.debugf(e, "no plan with what is due in the quarantine");
            return new Readmitted.Failed(e);
        } finally {
            readmission.rest(begunNanos);
        }
    }

    private final class Try {
        private final int mostSteps;
        private Optional<Leader> engine = Optional.empty();
        private Optional<Leader.Outcome> outcome = Optional.empty();
        private boolean isToBeCommitted;

        Try(int mostSteps) {
            this.mostSteps = mostSteps;
        }

        void run(SystemTransaction tx, Fence fence) {
            if (readmission.takeBack(tx, fence)) {
                Leader knowsThem = Leader.build(tx, fence, settings, locked);
                outcome = Optional.of(
                        knowsThem.readmit(tx, fence, readmission.tenants(), readmission.workloads(), mostSteps));
                engine = Optional.of(knowsThem);
            }
            isToBeCommitted = true;
        }
    }

    /** The next turn comes at once when entries of the quarantine are due for another try. */
    private Leader.Outcome withReadmission(Leader.Outcome planned) {
        if (leader != null && leader.isAnySetAside()) {
            look(readmission::look);
        }
        return readmission.isDue() ? planned.followedAtOnce() : planned;
    }

    private static void look(Runnable forEntries) {
        try {
            forEntries.run();
        } catch (RuntimeException e) {
            LOG.warnf("what is due in the quarantine waits: %s", e.getMessage());
        }
    }

    /** What is set aside is reported on, too; looked at now and then, apart from the plan. */
    private Leader.Outcome withSetAsideWork(Leader.Outcome planned) {
        long now = System.nanoTime();
        if (leader == null || !leader.isAnySetAside() || now - setAsideWorkNanos < SET_ASIDE_WORK_EVERY.toNanos()) {
            return planned;
        }
        setAsideWorkNanos = now;
        try {
            return lifecycle
                    .ofSetAside(epoch, locked)
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
        leader = null;
        return new Result.Deposed();
    }

    private void blame(Throwable failure) {
        if (DatabaseFailures.isTransient(failure)) {
            suspicion.timedOut();
        } else if (failure instanceof PlanFailure plan) {
            suspicion.acquit();
            if (builtInThisTurn) {
                blame(plan);
            }
        } else {
            boolean leftBefore = suspicion.leavesLeftovers();
            suspicion.failed().ifPresent(id -> {
                if (setAside.row(epoch, id)) {
                    suspicion.wasSetAside();
                }
            });
            if (suspicion.leavesLeftovers() && !leftBefore) {
                LOG.errorf(
                        failure,
                        "ALARM: turns failed with work that no inbox row names: delayed work whose time has come, paused work that is to be given up,"
                                + " or what the leader found unfinished. It waits for the next leader");
            }
            if (!suspicion.tookRows()) {
                unexplained();
            }
        }
    }

    private void blame(PlanFailure failure) {
        if (failure.blamed().isEmpty()
                || !setAside.workload(epoch, failure.blamed().get(), WHY)) {
            unexplained();
        }
    }

    private void unexplained() {
        failuresUnexplained++;
        if (failuresUnexplained >= FAILURES_UNTIL_EXAMINED) {
            failuresUnexplained = 0;
            examination.run(epoch);
        }
    }

    /** Finds which of the rows are locked, and plans without them for a while. Returns whether any is. */
    private boolean leaveOut(LockedRows failure) {
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
            leader = null;
        }
    }
}
