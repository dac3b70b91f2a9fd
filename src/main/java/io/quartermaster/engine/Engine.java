package io.quartermaster.engine;

import io.quartermaster.engine.explain.OutlookCalculator;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.ShareExplanation;
import io.quartermaster.engine.model.Snapshot;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.MoveSearches;
import io.quartermaster.engine.plan.BackfillReservations;
import io.quartermaster.engine.plan.MandatoryEvictions;
import io.quartermaster.engine.plan.PlanListener;
import io.quartermaster.engine.plan.Planner;
import io.quartermaster.engine.preemption.ChurnGuard;
import io.quartermaster.engine.preemption.EvictionPlanner;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.ShareExplainer;
import io.quartermaster.engine.quota.UsageHistory;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.ReportedReasons;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
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
 * Scheduler that decides which workload runs on which devices. It takes changes and returns plans, and has no other
 * effect: the same changes and times give the same plans. Not thread-safe; one thread uses it.
 *
 * <p>The engine assumes that the shell carries out each plan. A workload that the plan starts is placed. A workload
 * that the plan stops is stopping, and keeps its devices until the shell reports that it has ended. After a plan
 * without decisions, the next plan has none either, unless an input changed or {@link Plan#nextPlanAtMillis} has
 * passed.
 */
public final class Engine {
    private static final long STEPS_PER_WINDOW = 32;
    private static final long MIN_STEP_MILLIS = 1_000;

    private final Settings settings;
    private final DeclaredState declaredState = new DeclaredState();
    private final ReportedReasons reportedReasons = new ReportedReasons();
    private final ChurnGuard churnGuard = new ChurnGuard();
    private final Optional<UsageHistory> usageHistory;
    private final Budgets budgets = new Budgets();
    private final MoveSearches moveSearches = new MoveSearches();
    private @Nullable SchedulingState schedulingState;
    private @Nullable PlanCaches caches;
    private boolean isIncremental = true;
    private boolean isSteady;
    private boolean planIsCurrent;
    private OptionalLong nextPlanAtMillis = OptionalLong.empty();
    private OptionalLong transitionAtMillis = OptionalLong.empty();
    private long plannedMillis;
    private long lastPlanMillis;

    public Engine(Settings settings) {
        this.settings = settings;
        this.usageHistory = settings.fairnessWindowMillis().isPresent()
                ? Optional.of(
                        new UsageHistory(settings.fairnessWindowMillis().getAsLong(), settings.entryPenaltyMillis()))
                : Optional.empty();
    }

    /** Applies changes of the declared inputs. The order matters only between changes of the same object. */
    public void apply(List<Change> changes) {
        for (Change change : changes) {
            switch (change) {
                case Change.WorkloadSet set -> setWorkload(set.workload());
                case Change.WorkloadRemoved removed -> removeWorkload(removed.workload());
                case Change.PoolSet set -> applyCalendarChange(set);
                case Change.PoolRemoved removed -> applyCalendarChange(removed);
                case Change.NodeSet set -> apply(set);
                case Change.NodeRemoved removed -> apply(removed);
                case Change.QuotaSet set -> applyCalendarChange(set);
                case Change.QuotaRemoved removed -> applyCalendarChange(removed);
                case Change.CapacityReservationSet set -> applyCalendarChange(set);
                case Change.CapacityReservationRemoved removed -> applyCalendarChange(removed);
                case Change.ProfileSet set -> apply(set);
                case Change.ProfileRemoved removed -> apply(removed);
                case Change.QueueSet set -> apply(set);
                case Change.QueueRemoved removed -> apply(removed);
                case Change.AccountStatusSet set -> apply(set);
                case Change.PastUseSet set -> usageHistory.ifPresent(kept -> kept.set(set));
                case Change.BudgetSet set -> applyBudget(budgets.set(set));
                case Change.BudgetRemoved removed -> applyBudget(budgets.remove(removed.path(), removed.scope()));
                case Change.CapsSet set -> apply(set);
                case Change.CapsRemoved removed -> apply(removed);
            }
        }
    }

    /** Applies a change, and returns whether it changed the declared state. */
    private boolean apply(Change change) {
        boolean isChanged = declaredState.apply(change);
        if (isChanged) {
            closeState();
            moveSearches.clear();
            invalidate();
            churnGuard.forget();
        }
        return isChanged;
    }

    private void applyBudget(boolean isChanged) {
        if (isChanged) {
            closeState();
            moveSearches.clear();
            invalidate();
            churnGuard.forget();
        }
    }

    private void applyCalendarChange(Change change) {
        if (apply(change) && !declaredState.calendar().isEmpty()) {
            transitionAtMillis = OptionalLong.of(Long.MIN_VALUE);
        }
    }

    /** Marks the last plan as outdated. */
    private void invalidate() {
        isSteady = false;
        planIsCurrent = false;
    }

    private void closeState() {
        SchedulingState open = schedulingState;
        if (open != null) {
            open.close();
        }
        schedulingState = null;
        caches = null;
    }

    private void setWorkload(Workload workload) {
        Workload before = declaredState.workloads().get(workload.id());
        if (workload.equals(before)) {
            return;
        }
        invalidate();
        if (before == null || !isLeaving(before)) {
            churnGuard.forget();
        }
        declaredState.put(workload);
        SchedulingState open = schedulingState;
        if (open != null && open.hasLeafFor(workload.path())) {
            if (before == null) {
                open.add(workload);
            } else {
                open.replace(before, workload);
            }
        } else {
            closeState();
        }
        if (workload.held() || !(workload.state() instanceof WorkloadPhase.Waiting)) {
            reportedReasons.forget(workload.id());
        }
    }

    /** Whether the workload is already stopping, so that its end changes nothing for the churn guard. */
    private static boolean isLeaving(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Holding holding
                && !holding.phase().isStaying();
    }

    private void removeWorkload(WorkloadId id) {
        Workload before = declaredState.workloads().remove(id);
        if (before != null) {
            invalidate();
            churnGuard.forget();
            reportedReasons.forget(id);
            if (schedulingState != null) {
                schedulingState.remove(before);
            }
        }
    }

    /** Makes the plan for this moment. */
    public Plan plan(long nowMillis) {
        return plan(nowMillis, PlanListener.NONE);
    }

    /** Makes the plan for this moment and reports each step to the listener. */
    Plan plan(long nowMillis, PlanListener planListener) {
        boolean due = nextPlanAtMillis.isPresent() && nextPlanAtMillis.getAsLong() <= nowMillis;
        if (isSteady && !due) {
            usageHistory.ifPresent(UsageHistory::forgetRaised);
            return new Plan(nowMillis, List.of(), List.of(), nextPlanAtMillis);
        }
        advanceTo(nowMillis);
        SchedulingState open = ensureState();
        PlanCaches kept = caches(open);
        usageHistory.ifPresent(use -> use.advance(nowMillis));
        budgets.advance(nowMillis);
        Planner planner = new Planner(
                settings,
                declaredState,
                open,
                kept.demand(),
                kept.candidates(),
                kept.reservationHistory(),
                churnGuard,
                usageHistory,
                budgets,
                nowMillis,
                planListener);
        List<Decision> decisions = planner.makeDecisions();
        lastPlanMillis = nowMillis;
        usageHistory.ifPresent(use -> use.update(open.cluster().trees(), nowMillis));
        budgets.update(open.cluster().meters());
        isSteady = decisions.isEmpty();
        planIsCurrent = true;
        for (Decision decision : reportedReasons.isEmpty() ? List.<Decision>of() : decisions) {
            if (decision instanceof Decision.Start start) {
                reportedReasons.forget(start.workload());
            }
        }
        OptionalLong later = nextWakeup(nowMillis, open);
        nextPlanAtMillis = planner.hasPostponed() ? OptionalLong.of(nowMillis) : later;
        return new Plan(nowMillis, decisions, kept.reasons().changes(reportedReasons), nextPlanAtMillis);
    }

    /** Drops the scheduling state if a quota had a transition since the last plan. */
    private void advanceTo(long nowMillis) {
        plannedMillis = nowMillis;
        if (transitionAtMillis.isPresent() && transitionAtMillis.getAsLong() <= nowMillis) {
            transitionAtMillis = OptionalLong.empty();
            closeState();
            moveSearches.clear();
            invalidate();
            churnGuard.forget();
        }
    }

    /** Builds the scheduling state, which otherwise the next plan builds; for benchmarks. */
    void buildState() {
        ensureState();
    }

    /**
     * Makes every later plan without the caches that last from one candidate to the next or from plan to plan; for
     * tests of these caches.
     */
    void disableIncremental() {
        isIncremental = false;
        closeState();
    }

    /** Returns another engine in the same state, in which changes can be tried. */
    public Engine fork() {
        Engine fork = new Engine(settings);
        fork.declaredState.apply(declaredState);
        fork.plannedMillis = plannedMillis;
        fork.lastPlanMillis = lastPlanMillis;
        fork.transitionAtMillis =
                declaredState.calendar().isEmpty() ? OptionalLong.empty() : OptionalLong.of(Long.MIN_VALUE);
        budgets.all().forEach(fork.budgets::set);
        fork.reportedReasons.replaceAll(reportedReasons);
        for (SchedulingClass schedulingClass :
                schedulingState == null ? List.<SchedulingClass>of() : schedulingState.schedulingClasses()) {
            fork.reportedReasons.replaceAll(schedulingClass);
        }
        fork.churnGuard.restore(churnGuard.turns());
        fork.moveSearches.restore(moveSearches.position(transitionAtMillis, lastPlanMillis));
        usageHistory.ifPresent(
                kept -> kept.all().forEach(entry -> fork.usageHistory.ifPresent(copy -> copy.set(entry))));
        return fork;
    }

    private SchedulingState ensureState() {
        SchedulingState open = schedulingState == null
                ? new SchedulingState(
                        declaredState,
                        budgets,
                        plannedMillis,
                        lastPlanMillis,
                        settings.patienceMillis(),
                        settings.longestMinRuntimeMillis() > 0,
                        reportedReasons,
                        moveSearches)
                : schedulingState;
        if (!isIncremental) {
            open.changes().disableIncremental();
        }
        schedulingState = open;
        return open;
    }

    private PlanCaches caches(SchedulingState open) {
        PlanCaches kept = caches == null ? new PlanCaches(declaredState, open) : caches;
        caches = kept;
        return kept;
    }

    /** The next moment at which a plan may differ from the last plan although no input changes. */
    private OptionalLong nextWakeup(long nowMillis, SchedulingState open) {
        OptionalLong next = earlier(nextMinRuntimeEnd(nowMillis, open), nextReservationDue(nowMillis, open));
        next = earlier(next, nextEvictionPermitted(nowMillis, open));
        next = earlier(
                next, open.schedulingClasses().isEmpty() ? OptionalLong.empty() : open.reclaimableAfter(nowMillis));
        transitionAtMillis = nextCalendarTransition(nowMillis, open);
        next = earlier(next, nextBudgetEnd(nowMillis, open));
        for (Workload workload : open.incomplete()) {
            next = earlier(next, MandatoryEvictions.incompleteUntil(settings, workload));
        }
        return earlier(transitionAtMillis, earlier(next, nextShareUpdate(nowMillis, open)));
    }

    /** When running work has used up a budget, or a budget no longer suffices to start a waiting workload. */
    private OptionalLong nextBudgetEnd(long nowMillis, SchedulingState open) {
        OptionalLong inMillis = OptionalLong.empty();
        for (BudgetMeter budgetMeter : open.cluster().meters()) {
            inMillis = earlier(inMillis, budgetMeter.lastsMillis());
        }
        PoolRequestFactory poolRequestFactory = new PoolRequestFactory(declaredState, open);
        for (SchedulingClass schedulingClass :
                open.cluster().meters().isEmpty() ? List.<SchedulingClass>of() : open.schedulingClasses()) {
            for (PoolRequest poolRequest : poolRequestFactory.forClass(schedulingClass)) {
                for (BudgetMeter budgetMeter : poolRequest.meters()) {
                    inMillis = earlier(
                            inMillis,
                            budgetMeter.allowsForMillis(
                                    poolRequest.quotaRequest().gpuMilli(),
                                    poolRequest.quotaRequest().preemptible(),
                                    poolRequest.quotaRequest().runtimeMillis()));
                }
            }
        }
        return inMillis.isPresent() ? OptionalLong.of(nowMillis + inMillis.getAsLong()) : inMillis;
    }

    private OptionalLong nextCalendarTransition(long nowMillis, SchedulingState open) {
        if (declaredState.calendar().isEmpty()) {
            return OptionalLong.empty();
        }
        boolean ofAll = declaredState.calendar().anyPreemptsAtClose();
        SortedMap<String, SortedSet<Long>> runtimes = new TreeMap<>();
        for (SchedulingClass schedulingClass : open.schedulingClasses()) {
            OptionalLong runtime = schedulingClass.key().preemptible() && !ofAll
                    ? OptionalLong.empty()
                    : schedulingClass.key().maxRuntimeMillis();
            runtime.ifPresent(millis -> runtimes.computeIfAbsent(
                            schedulingClass.key().path().tenant(), tenant -> new TreeSet<>())
                    .add(millis));
        }
        return declaredState.calendar().nextTransition(nowMillis, runtimes);
    }

    private static OptionalLong earlier(OptionalLong a, OptionalLong b) {
        if (a.isEmpty() || b.isEmpty()) {
            return a.isEmpty() ? b : a;
        }
        return OptionalLong.of(Math.min(a.getAsLong(), b.getAsLong()));
    }

    /** Shares that count past use change continuously; it suffices to plan again after a part of the window. */
    private OptionalLong nextShareUpdate(long nowMillis, SchedulingState open) {
        return settings.fairnessWindowMillis().isPresent()
                        && !open.schedulingClasses().isEmpty()
                ? OptionalLong.of(nowMillis
                        + Math.max(
                                MIN_STEP_MILLIS, settings.fairnessWindowMillis().getAsLong() / STEPS_PER_WINDOW))
                : OptionalLong.empty();
    }

    private OptionalLong nextReservationDue(long nowMillis, SchedulingState open) {
        OptionalLong next = OptionalLong.empty();
        for (SchedulingClass schedulingClass :
                settings.patienceMillis().isPresent() ? open.schedulingClasses() : List.<SchedulingClass>of()) {
            OptionalLong due = BackfillReservations.dueMillis(settings, schedulingClass);
            if (due.isPresent() && due.getAsLong() > nowMillis) {
                next = earlier(next, due);
            }
        }
        return next;
    }

    /** When the next head of a scheduling class has waited long enough to evict work in one of its pools. */
    private OptionalLong nextEvictionPermitted(long nowMillis, SchedulingState open) {
        OptionalLong next = OptionalLong.empty();
        for (SchedulingClass schedulingClass :
                declaredState.poolsWaitBeforePreempting() ? open.schedulingClasses() : List.<SchedulingClass>of()) {
            for (PoolId id : schedulingClass.key().pools()) {
                Pool pool = declaredState.pools().get(id);
                long due = schedulingClass.head().waitsSinceMillis()
                        + (pool == null ? 0 : pool.waitBeforePreemptingMillis());
                next = due > nowMillis ? earlier(next, OptionalLong.of(due)) : next;
            }
        }
        return next;
    }

    /**
     * When the next running workload has reached its minimum runtime and can be evicted, if any work waits for that.
     */
    private OptionalLong nextMinRuntimeEnd(long nowMillis, SchedulingState open) {
        OptionalLong next = OptionalLong.empty();
        boolean nothingWaits = open.schedulingClasses().isEmpty()
                && open.outsidePreferredPool().isEmpty();
        if (nothingWaits || settings.longestMinRuntimeMillis() == 0) {
            return next;
        }
        for (long least : List.of(settings.minRuntimeMillis(), settings.longestMinRuntimeMillis())) {
            OptionalLong started = open.startedAfter(nowMillis - least);
            next = started.isPresent() ? earlier(next, OptionalLong.of(started.getAsLong() + least)) : next;
        }
        return next;
    }

    /**
     * The reasons why a workload waits, as of the last plan; empty if the workload does not wait, is held, or was in no
     * plan yet.
     */
    public Optional<WaitReasons> explain(WorkloadId id) {
        Workload workload = declaredState.workloads().get(id);
        if (workload == null || workload.held() || !(workload.state() instanceof WorkloadPhase.Waiting)) {
            return Optional.empty();
        }
        SchedulingState open = schedulingState;
        Optional<SchedulingClass> schedulingClass =
                open == null || workload.nomination().isPresent() ? Optional.empty() : open.schedulingClass(workload);
        List<Reason> reasons =
                schedulingClass.isPresent() ? reasons(schedulingClass.get(), workload) : reportedReasons.get(id);
        return reasons == null ? Optional.empty() : Optional.of(new WaitReasons(id, reasons));
    }

    private @Nullable List<Reason> reasons(SchedulingClass schedulingClass, Workload member) {
        if (!schedulingClass.isUnexplained(member)) {
            return reasons(schedulingClass);
        }
        List<Reason> before = reportedReasons.get(member.id());
        PlanCaches kept = caches;
        boolean apart = before != null && schedulingClass.firstInQueue() == member;
        return apart && planIsCurrent && kept != null ? kept.reasons().currentOfFirst(schedulingClass) : before;
    }

    /**
     * The reasons of a scheduling class: the codes that the engine reported last, with the numbers of the last plan
     * while that plan is current.
     */
    private List<Reason> reasons(SchedulingClass schedulingClass) {
        PlanCaches kept = caches;
        return planIsCurrent && kept != null ? kept.reasons().current(schedulingClass) : schedulingClass.reasons();
    }

    /**
     * The outlook of a waiting workload: the work that blocks it, the changes that would let it start, and its possible
     * start times. Empty in the cases in which {@link #explain} is empty.
     */
    public Optional<Outlook> outlook(WorkloadId id, long nowMillis) {
        return outlook(id, nowMillis, () -> false);
    }

    /**
     * The outlook of a waiting workload, with a search for remedies that the caller can end. The search tries changes
     * in at most {@value RemedyFinder#MAX_TRIES} forks of this engine.
     *
     * @param enough evaluated before each try; once it is true, the search ends and the outlook names no remedy
     */
    public Optional<Outlook> outlook(WorkloadId id, long nowMillis, BooleanSupplier enough) {
        Optional<WaitReasons> waitReasons = explain(id);
        if (waitReasons.isEmpty()) {
            return Optional.empty();
        }
        Workload workload = declaredState.workload(id);
        SchedulingState open = ensureState();
        EvictionPlanner evictionPlanner =
                new EvictionPlanner(settings, open.cluster(), open.runningWork(), churnGuard, nowMillis);
        RemedyFinder remedyFinder = new RemedyFinder(this, workload, nowMillis, enough);
        return open.schedulingClass(workload).map(schedulingClass -> new OutlookCalculator(
                        declaredState, open, evictionPlanner, remedyFinder::remedies, nowMillis)
                .of(workload, schedulingClass, waitReasons.get().perPool()));
    }

    /**
     * The numbers behind the fair shares of a path as of the last plan. There is one entry for each scope whose quotas
     * bind its work, in the order of the scopes.
     */
    public List<ShareExplanation> shares(QuotaPath path) {
        return ensureState().cluster().trees().stream()
                .flatMap(tree -> ShareExplainer.explain(tree, path).stream())
                .sorted(Comparator.comparing(ShareExplanation::scope))
                .toList();
    }

    public DeclaredState declaredState() {
        return declaredState;
    }

    /** The scheduling state as of the last plan. */
    SchedulingState openState() {
        return ensureState();
    }

    /** The reasons of every waiting workload as of the last plan, in the order of the workloads' ids. */
    public List<WaitReasons> waits() {
        List<WaitReasons> waits = new ArrayList<>();
        declaredState.workloadsInOrder().forEach(workload -> explain(workload.id())
                .ifPresent(waits::add));
        return waits;
    }

    /** The past use of every path, as changes for an engine that is rebuilt; empty without a fairness window. */
    public List<Change.PastUseSet> pastUse() {
        return usageHistory.map(UsageHistory::all).orElse(List.of());
    }

    /**
     * The paths whose past use the last plan raised by more than their current use: a workload started there, and the
     * settings have an entry penalty.
     */
    public SortedSet<QuotaPath> raisedPastUse() {
        return usageHistory.map(UsageHistory::raised).orElse(Collections.emptySortedSet());
    }

    /** The budgets with their remaining amounts, as of the last plan. */
    public List<Change.BudgetSet> budgets() {
        return budgets.all();
    }

    public Snapshot snapshot() {
        List<Change> all = declaredState.asChanges();
        all.addAll(budgets());
        all.addAll(pastUse());
        return new Snapshot(
                settings, all, waits(), churnGuard.turns(), moveSearches.position(transitionAtMillis, lastPlanMillis));
    }

    /** Returns an engine that continues from a snapshot and makes the same plans. */
    public static Engine restore(Snapshot snapshot) {
        Engine engine = new Engine(snapshot.settings());
        engine.apply(snapshot.facts());
        snapshot.waits()
                .forEach(waitReasons -> engine.reportedReasons.put(waitReasons.workload(), waitReasons.perPool()));
        engine.churnGuard.restore(snapshot.stops());
        engine.moveSearches.restore(snapshot.searches());
        engine.transitionAtMillis = snapshot.searches().transitionAtMillis();
        engine.lastPlanMillis = snapshot.searches().lastPlanMillis();
        return engine;
    }
}
