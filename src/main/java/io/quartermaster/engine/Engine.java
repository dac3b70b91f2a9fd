package io.quartermaster.engine;

import io.quartermaster.engine.preemption.Stops;
import io.quartermaster.engine.quota.PastUse;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
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
    private final Map<WorkloadId, List<Reason>> told = new HashMap<>();
    private final Stops stops = new Stops();
    private final Optional<PastUse> past;
    private @Nullable Books books;
    private boolean settled;
    private OptionalLong nextPlanAtMillis = OptionalLong.empty();

    public Engine(Settings settings) {
        this.settings = settings;
        this.past = settings.fairnessWindowMillis().isPresent()
                ? Optional.of(new PastUse(settings.fairnessWindowMillis().getAsLong()))
                : Optional.empty();
    }

    /** Takes over what is now so. The order of changes of different things does not matter. */
    public void apply(List<Change> changes) {
        for (Change change : changes) {
            switch (change) {
                case Change.WorkloadSet set -> set(set.workload());
                case Change.WorkloadRemoved removed -> remove(removed.workload());
                case Change.PoolSet set -> takeOver(set);
                case Change.PoolRemoved removed -> takeOver(removed);
                case Change.NodeSet set -> takeOver(set);
                case Change.NodeRemoved removed -> takeOver(removed);
                case Change.QuotaSet set -> takeOver(set);
                case Change.QuotaRemoved removed -> takeOver(removed);
                case Change.ProfileSet set -> takeOver(set);
                case Change.ProfileRemoved removed -> takeOver(removed);
                case Change.StandingSet set -> takeOver(set);
                case Change.PastUseSet set -> past.ifPresent(kept -> kept.set(set));
                case Change.CapsSet set -> takeOver(set);
                case Change.CapsRemoved removed -> takeOver(removed);
            }
        }
    }

    private void takeOver(Change change) {
        if (facts.takeOver(change)) {
            books = null;
            settled = false;
            stops.forget();
        }
    }

    private void set(Workload workload) {
        Workload before = facts.workloads().get(workload.id());
        if (workload.equals(before)) {
            return;
        }
        settled = false;
        if (before == null || !isLeaving(before)) {
            stops.forget();
        }
        if (workload.held() || !(workload.state() instanceof WorkloadState.Waiting)) {
            told.remove(workload.id());
        }
        facts.put(workload);
        Books open = books;
        if (open != null && open.knows(workload.path())) {
            if (before != null) {
                open.leave(before);
            }
            open.enter(workload);
        } else {
            books = null;
        }
    }

    /** Whether it was told to stop, so that its leaving is no news. */
    private static boolean isLeaving(Workload workload) {
        return workload.state() instanceof WorkloadState.Holding holding
                && !(holding.phase() instanceof WorkloadState.Phase.Running);
    }

    private void remove(WorkloadId id) {
        Workload before = facts.workloads().remove(id);
        if (before != null) {
            settled = false;
            stops.forget();
            told.remove(id);
            if (books != null) {
                books.leave(before);
            }
        }
    }

    /** Decides what to do at this moment. */
    public Plan plan(long nowMillis) {
        boolean due = nextPlanAtMillis.isPresent() && nextPlanAtMillis.getAsLong() <= nowMillis;
        if (settled && !due) {
            return new Plan(nowMillis, List.of(), List.of(), nextPlanAtMillis);
        }
        Books open = books();
        past.ifPresent(kept -> kept.advance(nowMillis));
        List<Decision> decisions = new Planner(settings, facts, open, stops, past, nowMillis).decide();
        past.ifPresent(kept -> kept.note(open.cluster().trees(), nowMillis));
        settled = decisions.isEmpty();
        decisions.stream().filter(Decision.Start.class::isInstance).forEach(start -> told.remove(start.workload()));
        nextPlanAtMillis = whenTimeAloneMatters(nowMillis, open);
        return new Plan(nowMillis, decisions, explain(open), nextPlanAtMillis);
    }

    /** Opens the books, which the next plan would do otherwise; for measuring. */
    void prepare() {
        books();
    }

    /** Another engine in the same state, to try things in. */
    public Engine fork() {
        Engine fork = new Engine(settings);
        fork.facts.takeOver(facts);
        for (WorkloadId id : facts.workloads().keySet()) {
            List<Reason> last = told.get(id);
            if (last != null) {
                fork.told.put(id, last);
            }
        }
        fork.stops.restore(stops.counts());
        past.ifPresent(kept -> kept.all().forEach(entry -> fork.past.ifPresent(copy -> copy.set(entry))));
        return fork;
    }

    private Books books() {
        Books open = books == null ? new Books(facts, settings.patienceMillis().isPresent()) : books;
        books = open;
        return open;
    }

    /** The next moment at which a plan may differ from one made before, if nothing else happens. */
    private OptionalLong whenTimeAloneMatters(long nowMillis, Books open) {
        OptionalLong next = earlier(whenSomeoneIsOldEnough(nowMillis, open), whenAClaimIsDue(nowMillis, open));
        return earlier(next, whenSharesHaveMoved(nowMillis, open));
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

    /** When the next running workload is old enough to be stopped or moved, if anybody waits for that. */
    private OptionalLong whenSomeoneIsOldEnough(long nowMillis, Books open) {
        OptionalLong next = OptionalLong.empty();
        if (open.lines().isEmpty() || settings.longestMinRuntimeMillis() == 0) {
            return next;
        }
        for (Workload workload : facts.workloads().values()) {
            if (workload.state() instanceof WorkloadState.Holding holding) {
                for (long least : List.of(settings.minRuntimeMillis(), settings.longestMinRuntimeMillis())) {
                    long old = holding.startedMillis() + least;
                    if (old > nowMillis && (next.isEmpty() || old < next.getAsLong())) {
                        next = OptionalLong.of(old);
                    }
                }
            }
        }
        return next;
    }

    private List<Wait> explain(Books open) {
        Explainer explainer = new Explainer(facts, open);
        List<Wait> news = new ArrayList<>();
        for (Line line : open.lines()) {
            if (!line.surplus()) {
                List<Reason> reasons = explainer.reasons(line);
                line.explain(reasons).forEach(member -> tell(new Wait(member.id(), reasons), news));
            }
        }
        for (Workload workload : open.nominated()) {
            if (workload.state() instanceof WorkloadState.Waiting) {
                tell(new Wait(workload.id(), List.of(explainer.nominated(workload))), news);
            }
        }
        news.sort(Comparator.comparing(Wait::workload));
        return news;
    }

    private void tell(Wait wait, List<Wait> news) {
        List<Reason> before = told.put(wait.workload(), wait.perPool());
        if (before == null || !Wait.kinds(before).equals(Wait.kinds(wait.perPool()))) {
            news.add(wait);
        }
    }

    /** Why a workload waits, as of the last plan; empty if it does not wait, is held, or was in no plan yet. */
    public Optional<Wait> explain(WorkloadId id) {
        Workload workload = facts.workloads().get(id);
        List<Reason> last = told.get(id);
        if (workload == null
                || last == null
                || workload.held()
                || !(workload.state() instanceof WorkloadState.Waiting)) {
            return Optional.empty();
        }
        // The line's reasons are of the same kinds as those told last, with the numbers of the last plan.
        Books open = books;
        Optional<Line> line = open == null ? Optional.empty() : open.line(workload);
        List<Reason> reasons =
                line.map(Line::reasons).filter(newer -> !newer.isEmpty()).orElse(last);
        return Optional.of(new Wait(id, workload.nomination().isPresent() ? last : reasons));
    }

    /** Who is in the way of a waiting workload, what would be enough, and when it may start; empty as for a wait. */
    public Optional<Outlook> outlook(WorkloadId id, long nowMillis) {
        Optional<Wait> wait = explain(id);
        if (wait.isEmpty()) {
            return Optional.empty();
        }
        Workload workload = facts.workload(id);
        Books open = books();
        return open.line(workload).map(line -> new Foresight(facts, open, nowMillis)
                .of(workload, line, wait.get().perPool()));
    }

    /** Every wait as of the last plan, in order of the workloads' ids. */
    public List<Wait> waits() {
        List<Wait> waits = new ArrayList<>();
        facts.workloads().keySet().forEach(id -> explain(id).ifPresent(waits::add));
        return waits;
    }

    /** What everybody held before, to be stated to an engine that is built anew; empty without a fairness window. */
    public List<Change.PastUseSet> pastUse() {
        return past.map(PastUse::all).orElse(List.of());
    }

    public Snapshot snapshot() {
        List<Change> all = facts.asChanges();
        all.addAll(pastUse());
        return new Snapshot(settings, all, waits(), stops.counts());
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
