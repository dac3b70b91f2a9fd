package io.quartermaster.engine;

import io.quartermaster.engine.explain.Foresight;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Snapshot;
import io.quartermaster.engine.model.Wait;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.plan.Claims;
import io.quartermaster.engine.plan.Planner;
import io.quartermaster.engine.plan.Recorder;
import io.quartermaster.engine.plan.Unclaimed;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Told;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.preemption.Stops;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.PastUse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides who runs where. Changes go in, plans come out, and nothing else happens: the same changes and times give the
 * same plans. Not thread-safe; one thread decides.
 *
 * <p>A plan is taken as carried out: what it starts is placed, what it stops is stopping and keeps its devices until
 * the shell reports it gone. A plan after a plan that decided nothing decides nothing, unless something changed or
 * {@link Plan#nextPlanAtMillis} has come.
 */
public final class Engine {
    private static final long STEPS_PER_WINDOW = 32;
    private static final long LEAST_STEP_MILLIS = 1_000;

    private final Settings settings;
    private final Facts facts = new Facts();
    private final Told told = new Told();
    private final Stops stops = new Stops();
    private final Optional<PastUse> past;
    private final Budgets budgets = new Budgets();
    private @Nullable Books books;
    private @Nullable Memory memory;
    private boolean remembers = true;
    private boolean settled;
    private boolean asPlanned;
    private OptionalLong nextPlanAtMillis = OptionalLong.empty();
    private OptionalLong turnAtMillis = OptionalLong.empty();
    private long plannedMillis;

    public Engine(Settings settings) {
        this.settings = settings;
        this.past = settings.fairnessWindowMillis().isPresent()
                ? Optional.of(new PastUse(settings.fairnessWindowMillis().getAsLong(), settings.entryPenaltyMillis()))
                : Optional.empty();
    }

    /** Takes over what is now so. The order of changes of different things does not matter. */
    public void apply(List<Change> changes) {
        for (Change change : changes) {
            switch (change) {
                case Change.WorkloadSet set -> set(set.workload());
                case Change.WorkloadRemoved removed -> remove(removed.workload());
                case Change.PoolSet set -> calendarTurns(set);
                case Change.PoolRemoved removed -> calendarTurns(removed);
                case Change.NodeSet set -> takeOver(set);
                case Change.NodeRemoved removed -> takeOver(removed);
                case Change.QuotaSet set -> calendarTurns(set);
                case Change.QuotaRemoved removed -> calendarTurns(removed);
                case Change.CapacityReservationSet set -> calendarTurns(set);
                case Change.CapacityReservationRemoved removed -> calendarTurns(removed);
                case Change.ProfileSet set -> takeOver(set);
                case Change.ProfileRemoved removed -> takeOver(removed);
                case Change.QueueSet set -> takeOver(set);
                case Change.QueueRemoved removed -> takeOver(removed);
                case Change.StandingSet set -> takeOver(set);
                case Change.PastUseSet set -> past.ifPresent(kept -> kept.set(set));
                case Change.BudgetSet set -> budgetsTurn(budgets.set(set));
                case Change.BudgetRemoved removed -> budgetsTurn(budgets.remove(removed.path(), removed.scope()));
                case Change.CapsSet set -> takeOver(set);
                case Change.CapsRemoved removed -> takeOver(removed);
            }
        }
    }

    /** Returns whether it was news. */
    private boolean takeOver(Change change) {
        boolean news = facts.takeOver(change);
        if (news) {
            closeBooks();
            news();
            stops.forget();
        }
        return news;
    }

    private void budgetsTurn(boolean news) {
        if (news) {
            closeBooks();
            news();
            stops.forget();
        }
    }

    private void calendarTurns(Change change) {
        if (takeOver(change) && !facts.calendar().isEmpty()) {
            turnAtMillis = OptionalLong.of(Long.MIN_VALUE);
        }
    }

    /** What was planned last does not hold any more. */
    private void news() {
        settled = false;
        asPlanned = false;
    }

    private void closeBooks() {
        Books open = books;
        if (open != null) {
            open.close();
        }
        books = null;
        memory = null;
    }

    private void set(Workload workload) {
        Workload before = facts.workloads().get(workload.id());
        if (workload.equals(before)) {
            return;
        }
        news();
        if (before == null || !isLeaving(before)) {
            stops.forget();
        }
        facts.put(workload);
        Books open = books;
        if (open != null && open.knows(workload.path())) {
            if (before == null) {
                open.enter(workload);
            } else {
                open.replace(before, workload);
            }
        } else {
            closeBooks();
        }
        if (workload.held() || !(workload.state() instanceof WorkloadState.Waiting)) {
            told.forget(workload.id());
        }
    }

    /** Whether it was told to stop, so that its leaving is no news. */
    private static boolean isLeaving(Workload workload) {
        return workload.state() instanceof WorkloadState.Holding holding
                && !holding.phase().isStaying();
    }

    private void remove(WorkloadId id) {
        Workload before = facts.workloads().remove(id);
        if (before != null) {
            news();
            stops.forget();
            told.forget(id);
            if (books != null) {
                books.leave(before);
            }
        }
    }

    /** Decides what to do at this moment. */
    public Plan plan(long nowMillis) {
        return plan(nowMillis, Recorder.NOBODY);
    }

    /** The same while somebody looks on. */
    Plan plan(long nowMillis, Recorder recorder) {
        boolean due = nextPlanAtMillis.isPresent() && nextPlanAtMillis.getAsLong() <= nowMillis;
        if (settled && !due) {
            past.ifPresent(PastUse::forgetRaised);
            return new Plan(nowMillis, List.of(), List.of(), nextPlanAtMillis);
        }
        comeTo(nowMillis);
        Books open = books();
        Memory kept = memory(open);
        past.ifPresent(use -> use.advance(nowMillis));
        budgets.advance(nowMillis);
        Planner planner = new Planner(
                settings, facts, open, kept.demand(), kept.order(), stops, past, budgets, nowMillis, recorder);
        List<Decision> decisions = planner.decide();
        past.ifPresent(use -> use.note(open.cluster().trees(), nowMillis));
        budgets.note(open.cluster().meters());
        settled = decisions.isEmpty();
        asPlanned = true;
        for (Decision decision : told.isEmpty() ? List.<Decision>of() : decisions) {
            if (decision instanceof Decision.Start start) {
                told.forget(start.workload());
            }
        }
        OptionalLong later = whenTimeAloneMatters(nowMillis, open);
        nextPlanAtMillis = planner.hasPostponed() ? OptionalLong.of(nowMillis) : later;
        return new Plan(nowMillis, decisions, kept.explanations().news(told), nextPlanAtMillis);
    }

    /** Where the calendar has turned since the last plan, the quotas are others. */
    private void comeTo(long nowMillis) {
        plannedMillis = nowMillis;
        if (turnAtMillis.isPresent() && turnAtMillis.getAsLong() <= nowMillis) {
            turnAtMillis = OptionalLong.empty();
            closeBooks();
            news();
            stops.forget();
        }
    }

    /** Opens the books, which the next plan would do otherwise; for measuring. */
    void prepare() {
        books();
    }

    /** From now on each plan is made as if nothing were kept from one turn to the next, nor from plan to plan; for tests of what is kept. */
    void rememberNothing() {
        remembers = false;
        closeBooks();
    }

    /** Another engine in the same state, to try things in. */
    public Engine fork() {
        Engine fork = new Engine(settings);
        fork.facts.takeOver(facts);
        fork.plannedMillis = plannedMillis;
        fork.turnAtMillis = facts.calendar().isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.MIN_VALUE);
        budgets.all().forEach(fork.budgets::set);
        fork.told.takeOver(told);
        for (Line line : books == null ? List.<Line>of() : books.lines()) {
            fork.told.takeOver(line);
        }
        fork.stops.restore(stops.turns());
        past.ifPresent(kept -> kept.all().forEach(entry -> fork.past.ifPresent(copy -> copy.set(entry))));
        return fork;
    }

    private Books books() {
        Books open = books == null
                ? new Books(
                        facts,
                        budgets,
                        plannedMillis,
                        settings.patienceMillis(),
                        settings.longestMinRuntimeMillis() > 0,
                        told)
                : books;
        if (!remembers) {
            open.touches().rememberNothing();
        }
        books = open;
        return open;
    }

    private Memory memory(Books open) {
        Memory kept = memory == null ? new Memory(facts, open) : memory;
        memory = kept;
        return kept;
    }

    /** The next moment at which a plan may differ from one made before, if nothing else happens. */
    private OptionalLong whenTimeAloneMatters(long nowMillis, Books open) {
        OptionalLong next = earlier(whenSomeoneIsOldEnough(nowMillis, open), whenAClaimIsDue(nowMillis, open));
        next = earlier(next, whenSomeoneHasWaitedEnough(nowMillis, open));
        next = earlier(next, open.lines().isEmpty() ? OptionalLong.empty() : open.reclaimableAfter(nowMillis));
        turnAtMillis = whenTheCalendarTurns(nowMillis, open);
        next = earlier(next, whenABudgetEnds(nowMillis, open));
        for (Workload workload : open.incomplete()) {
            next = earlier(next, Unclaimed.incompleteUntil(settings, workload));
        }
        return earlier(turnAtMillis, earlier(next, whenSharesHaveMoved(nowMillis, open)));
    }

    /** When what runs on a budget has to stop, or what waits could not start on it any more. */
    private OptionalLong whenABudgetEnds(long nowMillis, Books open) {
        OptionalLong inMillis = OptionalLong.empty();
        for (Meter meter : open.cluster().meters()) {
            inMillis = earlier(inMillis, meter.lastsMillis());
        }
        Wishes wishes = new Wishes(facts, open);
        for (Line line : open.cluster().meters().isEmpty() ? List.<Line>of() : open.lines()) {
            for (Wish wish : wishes.of(line)) {
                for (Meter meter : wish.meters()) {
                    inMillis = earlier(
                            inMillis,
                            meter.allowsForMillis(
                                    wish.ask().gpuMilli(),
                                    wish.ask().preemptible(),
                                    wish.ask().runtimeMillis()));
                }
            }
        }
        return inMillis.isPresent() ? OptionalLong.of(nowMillis + inMillis.getAsLong()) : inMillis;
    }

    private OptionalLong whenTheCalendarTurns(long nowMillis, Books open) {
        if (facts.calendar().isEmpty()) {
            return OptionalLong.empty();
        }
        boolean ofAll = facts.calendar().anyPreemptsAtClose();
        SortedMap<String, SortedSet<Long>> runtimes = new TreeMap<>();
        for (Line line : open.lines()) {
            OptionalLong runtime = line.key().preemptible() && !ofAll
                    ? OptionalLong.empty()
                    : line.key().maxRuntimeMillis();
            runtime.ifPresent(
                    millis -> runtimes.computeIfAbsent(line.key().path().tenant(), tenant -> new TreeSet<>())
                            .add(millis));
        }
        return facts.calendar().nextTurn(nowMillis, runtimes);
    }

    private static OptionalLong earlier(OptionalLong a, OptionalLong b) {
        if (a.isEmpty() || b.isEmpty()) {
            return a.isEmpty() ? b : a;
        }
        return OptionalLong.of(Math.min(a.getAsLong(), b.getAsLong()));
    }

    /** Shares that follow what was used before move all the time; a part of the window is soon enough. */
    private OptionalLong whenSharesHaveMoved(long nowMillis, Books open) {
        return settings.fairnessWindowMillis().isPresent() && !open.lines().isEmpty()
                ? OptionalLong.of(nowMillis
                        + Math.max(
                                LEAST_STEP_MILLIS,
                                settings.fairnessWindowMillis().getAsLong() / STEPS_PER_WINDOW))
                : OptionalLong.empty();
    }

    private OptionalLong whenAClaimIsDue(long nowMillis, Books open) {
        OptionalLong next = OptionalLong.empty();
        for (Line line : settings.patienceMillis().isPresent() ? open.lines() : List.<Line>of()) {
            OptionalLong due = Claims.dueMillis(settings, line);
            if (due.isPresent() && due.getAsLong() > nowMillis) {
                next = earlier(next, due);
            }
        }
        return next;
    }

    /** When the first of the next line has waited long enough for something to be stopped for it. */
    private OptionalLong whenSomeoneHasWaitedEnough(long nowMillis, Books open) {
        OptionalLong next = OptionalLong.empty();
        for (Line line : facts.poolsWaitBeforePreempting() ? open.lines() : List.<Line>of()) {
            for (PoolId id : line.key().pools()) {
                Pool pool = facts.pools().get(id);
                long due = line.head().waitsSinceMillis() + (pool == null ? 0 : pool.waitBeforePreemptingMillis());
                next = due > nowMillis ? earlier(next, OptionalLong.of(due)) : next;
            }
        }
        return next;
    }

    /** When the next running workload is old enough to be stopped or moved, if anybody waits for that. */
    private OptionalLong whenSomeoneIsOldEnough(long nowMillis, Books open) {
        OptionalLong next = OptionalLong.empty();
        boolean nobodyWaits = open.lines().isEmpty() && open.away().isEmpty();
        if (nobodyWaits || settings.longestMinRuntimeMillis() == 0) {
            return next;
        }
        for (long least : List.of(settings.minRuntimeMillis(), settings.longestMinRuntimeMillis())) {
            OptionalLong started = open.startedAfter(nowMillis - least);
            next = started.isPresent() ? earlier(next, OptionalLong.of(started.getAsLong() + least)) : next;
        }
        return next;
    }

    /** Why a workload waits, as of the last plan; empty if it does not wait, is held, or was in no plan yet. */
    public Optional<Wait> explain(WorkloadId id) {
        Workload workload = facts.workloads().get(id);
        if (workload == null || workload.held() || !(workload.state() instanceof WorkloadState.Waiting)) {
            return Optional.empty();
        }
        Books open = books;
        Optional<Line> line =
                open == null || workload.nomination().isPresent() ? Optional.empty() : open.line(workload);
        List<Reason> reasons = line.isPresent() ? reasons(line.get(), workload) : told.get(id);
        return reasons == null ? Optional.empty() : Optional.of(new Wait(id, reasons));
    }

    private @Nullable List<Reason> reasons(Line line, Workload member) {
        if (!line.isFresh(member)) {
            return reasons(line);
        }
        List<Reason> before = told.get(member.id());
        Memory kept = memory;
        boolean apart = before != null && line.firstInQueue() == member;
        return apart && asPlanned && kept != null ? kept.explanations().currentOfFirst(line) : before;
    }

    /** The line's reasons are of the kinds told last, with the numbers of the last plan while nothing has changed. */
    private List<Reason> reasons(Line line) {
        Memory kept = memory;
        return asPlanned && kept != null ? kept.explanations().current(line) : line.reasons();
    }

    /** Who is in the way of a waiting workload, what would be enough, and when it may start; empty as for a wait. */
    public Optional<Outlook> outlook(WorkloadId id, long nowMillis) {
        return outlook(id, nowMillis, () -> false);
    }

    /**
     * The same while there is time. What would be enough is found by trying it, in at most {@value Remedies#MOST_TRIES} forks of this engine.
     *
     * @param enough asked before each try; once it is true nothing more is tried, and nothing is said of what would be enough
     */
    public Optional<Outlook> outlook(WorkloadId id, long nowMillis, BooleanSupplier enough) {
        Optional<Wait> wait = explain(id);
        if (wait.isEmpty()) {
            return Optional.empty();
        }
        Workload workload = facts.workload(id);
        Books open = books();
        RoomMaker roomMaker = new RoomMaker(settings, open.cluster(), open.running(), stops, nowMillis);
        Remedies remedies = new Remedies(this, workload, nowMillis, enough);
        return open.line(workload).map(line -> new Foresight(facts, open, roomMaker, remedies::in, nowMillis)
                .of(workload, line, wait.get().perPool()));
    }

    public Facts facts() {
        return facts;
    }

    /** The books as of the last plan. */
    Books openBooks() {
        return books();
    }

    /** Every wait as of the last plan, in order of the workloads' ids. */
    public List<Wait> waits() {
        List<Wait> waits = new ArrayList<>();
        facts.workloadsInOrder().forEach(workload -> explain(workload.id()).ifPresent(waits::add));
        return waits;
    }

    /** What everybody held before, to be stated to an engine that is built anew; empty without a fairness window. */
    public List<Change.PastUseSet> pastUse() {
        return past.map(PastUse::all).orElse(List.of());
    }

    /** The paths whose past use the last plan raised by more than what they hold: something started, and there is an entry penalty. */
    public SortedSet<QuotaPath> raisedPastUse() {
        return past.map(PastUse::raised).orElse(Collections.emptySortedSet());
    }

    /** What is left of budgets, as of the last plan. */
    public List<Change.BudgetSet> budgets() {
        return budgets.all();
    }

    public Snapshot snapshot() {
        List<Change> all = facts.asChanges();
        all.addAll(budgets());
        all.addAll(pastUse());
        return new Snapshot(settings, all, waits(), stops.turns());
    }

    /** An engine that goes on where the other was; it gives the same plans. */
    public static Engine restore(Snapshot snapshot) {
        Engine engine = new Engine(snapshot.settings());
        engine.apply(snapshot.facts());
        snapshot.waits().forEach(wait -> engine.told.put(wait.workload(), wait.perPool()));
        engine.stops.restore(snapshot.stops());
        return engine;
    }
}
