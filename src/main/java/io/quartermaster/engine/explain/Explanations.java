package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.News;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Told;
import io.quartermaster.engine.state.Touches;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * Why work waits, found anew after a plan for those lines of which it may have changed: somebody joined, something
 * changed at their tenant, or it fits in the pool where it did not, or the other way round. The numbers of the others
 * are brought up to date when somebody asks.
 */
public final class Explanations {
    private final Books books;
    private final Wishes wishes;
    private final Explainer explainer;
    private final BitSet fits = new BitSet();
    private final BitSet fitsIfOpen = new BitSet();
    private final BitSet lacksRoom = new BitSet();
    private final BitSet lacksCapacity = new BitSet();
    private int kindsSeen;
    private long seen = -1;

    public Explanations(Facts facts, Books books) {
        this.books = books;
        this.wishes = new Wishes(facts, books);
        this.explainer = new Explainer(facts, books);
    }

    /** Tells the news since the last time. */
    public List<News> news(Told told) {
        List<News> news = new ArrayList<>();
        Touches touches = books.touches();
        BitSet changed = changedKinds();
        if (touches.knowsSince(seen)) {
            touches.concernedSince(seen).forEach(line -> explain(line, told, news));
            for (Line line : changed.isEmpty() ? List.<Line>of() : books.lines()) {
                if (asksForOneOf(line, changed)) {
                    explain(line, told, news);
                }
            }
        } else {
            books.lines().forEach(line -> explain(line, told, news));
        }
        seen = touches.end();
        for (Workload workload : books.nominated()) {
            if (workload.state() instanceof WorkloadState.Waiting) {
                tell(workload, List.of(explainer.nominated(workload)), told, news);
            }
        }
        news.sort(Comparator.comparing(of -> of.workloads().getFirst().id()));
        return news;
    }

    private void explain(Line line, Told told, List<News> news) {
        if (line.isEmpty() || line.surplus()) {
            return;
        }
        line.setFirstApart(told);
        if (line.hasFresh() || !explainer.sameKinds(line, line.reasons())) {
            List<Reason> reasons = explainer.reasons(line);
            List<Workload> toTell = line.explain(reasons, told);
            if (!toTell.isEmpty()) {
                news.add(new News(reasons, toTell));
            }
        }
        Workload first = line.firstInQueue();
        if (first != null) {
            tell(first, explainer.reasonsOfFirst(line), told, news);
        }
    }

    private static void tell(Workload workload, List<Reason> reasons, Told told, List<News> news) {
        if (told.isNews(workload.id(), reasons)) {
            news.add(new News(reasons, List.of(workload)));
        }
        told.put(workload.id(), reasons);
    }

    private boolean asksForOneOf(Line line, BitSet kinds) {
        for (Wish wish : wishes.of(line)) {
            if (wish.kindNumber() >= 0 && kinds.get(wish.kindNumber())) {
                return true;
            }
        }
        return false;
    }

    /** The kinds of which something is not what it was. */
    private BitSet changedKinds() {
        BitSet changed = new BitSet();
        List<Kind> kinds = books.cluster().kinds();
        for (Kind kind : kinds) {
            int number = kind.number();
            changed.set(number, number >= kindsSeen);
            changed.set(number, changed.get(number) | update(fits, number, kind.fitsIgnoringPromises()));
            changed.set(number, changed.get(number) | update(fitsIfOpen, number, kind.wouldFitIfNodesWereOpen()));
            changed.set(number, changed.get(number) | update(lacksRoom, number, kind.lacksRoom()));
            changed.set(number, changed.get(number) | update(lacksCapacity, number, kind.lacksCapacity(When.NOW)));
        }
        kindsSeen = kinds.size();
        return changed;
    }

    private static boolean update(BitSet states, int number, boolean state) {
        boolean changed = states.get(number) != state;
        states.set(number, state);
        return changed;
    }

    /** The reasons of a line's head whose turn it is in its queue, likewise. */
    public List<Reason> currentOfFirst(Line line) {
        return explainer.reasonsOfFirst(line);
    }

    /** The line's reasons with the numbers of this moment; only while nothing changed since the last plan. */
    public List<Reason> current(Line line) {
        line.renumber(explainer.reasons(line));
        return line.reasons();
    }
}
