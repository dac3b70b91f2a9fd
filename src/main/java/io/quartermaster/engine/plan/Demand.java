package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Touches;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.quota.Ceiling;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;

/**
 * What waits, counted at the leaves of the trees: in the tree of each of a line's pools, and once in that over all
 * pools. Counts again the lines that changed; where bounds beside the trees leave the later ones less, all of them. The
 * workers that somebody will ask for beyond those for whom a place is kept wait in that place's pool.
 */
public final class Demand {
    private final Facts facts;
    private final Books books;
    private final Wishes wishes;
    private final boolean doorsClose;
    private final Map<Line, Counted> counted = new LinkedHashMap<>();
    private final Map<WorkloadId, Beyond> beyondPlaces = new LinkedHashMap<>();
    private long seen = -1;

    public Demand(Facts facts, Books books) {
        this.facts = facts;
        this.books = books;
        this.wishes = new Wishes(facts, books);
        this.doorsClose = !books.cluster().meters().isEmpty()
                || facts.pools().values().stream()
                        .anyMatch(pool -> !pool.takesWork() || pool.hours().isPresent());
    }

    /** What was counted of a line, and where. */
    private record Counted(long workers, List<Wish> wishes) {}

    /** What was counted of the workers beyond those for whom a place is kept, and where. */
    private record Beyond(List<QuotaNode> leaves, long gpuMilli) {}

    /** Brings the trees up to date. */
    void count() {
        countBeyondPlaces();
        Touches touches = books.touches();
        if (facts.caps().isEmpty() && touches.knowsSince(seen)) {
            for (long place = seen; place < touches.end(); place++) {
                if (touches.get(place) instanceof Line line) {
                    count(line, workersOf(line));
                }
            }
        } else {
            countAll();
        }
        seen = touches.end();
    }

    private void countBeyondPlaces() {
        Map<WorkloadId, Beyond> now = new LinkedHashMap<>();
        for (Workload workload : books.nominated()) {
            if (facts.standing(workload.path()) == Change.Standing.GOOD) {
                beyondPlace(workload).ifPresent(beyond -> now.put(workload.id(), beyond));
            }
        }
        beyondPlaces.entrySet().removeIf(before -> {
            boolean gone = !before.getValue().equals(now.get(before.getKey()));
            if (gone) {
                add(before.getValue(), -before.getValue().gpuMilli());
            }
            return gone;
        });
        now.forEach((workload, beyond) -> {
            if (beyondPlaces.putIfAbsent(workload, beyond) == null) {
                add(beyond, beyond.gpuMilli());
            }
        });
    }

    /** Nothing where bounds beside the trees may leave it less than that. */
    private Optional<Beyond> beyondPlace(Workload workload) {
        Allocation place = workload.nomination().orElseThrow();
        Shape shape = workload.shape();
        if (shape.allMinWorkers() == shape.allWorkers()
                || !books.cluster()
                        .ceilings()
                        .over(workload.path(), workload.user())
                        .isEmpty()) {
            return Optional.empty();
        }
        SortedSet<Integer> numbers = Books.numbers(place);
        if (workload.state() instanceof WorkloadState.Holding holding) {
            Books.remaining(holding).ifPresent(keeps -> numbers.addAll(Books.numbers(keeps)));
        }
        return wishes.space(place.pool())
                .filter(space -> space.pool().takesWork())
                .map(space -> new Beyond(leaves(space, workload), gpuMilliBeyond(numbers, shape, space)))
                .filter(beyond -> beyond.gpuMilli() > 0 && !beyond.leaves().isEmpty());
    }

    private List<QuotaNode> leaves(Space space, Workload workload) {
        List<QuotaNode> leaves = books.cluster().leaves(space.pool().id(), workload.path());
        return leaves.getFirst().named() ? leaves : List.of();
    }

    private static long gpuMilliBeyond(SortedSet<Integer> numbers, Shape shape, Space space) {
        long beyond = 0;
        for (Shape.WorkerSet set : shape.sets()) {
            long there = numbers.stream().filter(set::has).count();
            beyond += space.gpuMilliOf(set.set().gpus()) * (set.set().workers() - there);
        }
        return beyond;
    }

    private static void add(Beyond beyond, long gpuMilli) {
        beyond.leaves().forEach(leaf -> leaf.addWaiting(gpuMilli));
    }

    private void countAll() {
        for (Line line : List.copyOf(counted.keySet())) {
            if (line.isEmpty()) {
                count(line, 0);
            }
        }
        List<Line> lines = new ArrayList<>(books.lines());
        if (!facts.caps().isEmpty()) {
            lines.sort(Comparator.comparing(Line::head, Line.FIRST_SUBMITTED));
        }
        Map<Ceiling, Long> ofCeilings = new HashMap<>();
        for (Line line : lines) {
            long wanted = workersOf(line);
            count(line, facts.caps().isEmpty() || wanted == 0 ? wanted : withinCeilings(line, wanted, ofCeilings));
        }
    }

    /** How many workers all in a line would have beyond those that run; none where nothing may start. */
    private long workersOf(Line line) {
        boolean may = !line.isEmpty() && facts.standing(line.key().path()) == Change.Standing.GOOD;
        return may ? line.workersWanted() : 0;
    }

    private void count(Line line, long wanted) {
        List<Wish> asked = wanted == 0 ? List.of() : whereItMayStart(line);
        Counted before = wanted == 0 ? counted.remove(line) : counted.put(line, new Counted(wanted, asked));
        if (before != null && before.wishes().equals(asked)) {
            add(line, asked, wanted - before.workers());
            return;
        }
        if (before != null) {
            add(line, before.wishes(), -before.workers());
        }
        add(line, asked, wanted);
    }

    /**
     * Without pools that are closed to it and those in which nothing is left of its budget: it wants nothing there that others could have. That little is left of a
     * budget is no such reason, since that depends on what runs, and so on the shares.
     */
    private List<Wish> whereItMayStart(Line line) {
        List<Wish> asked = wishes.of(line);
        if (!doorsClose) {
            return asked;
        }
        return asked.stream()
                .filter(wish -> wish.isOpen() && wish.meters().stream().allMatch(Meter::isLeft))
                .toList();
    }

    private void add(Line line, List<Wish> asked, long more) {
        if (more == 0) {
            return;
        }
        List<QuotaTree> countedIn = new ArrayList<>(2);
        for (Wish wish : asked) {
            long gpuMilli = line.gpuMilliOf(wish.space(), more);
            List<QuotaNode> leaves =
                    books.cluster().leaves(wish.space().pool().id(), line.key().path());
            for (QuotaNode leaf : leaves.getFirst().named() ? leaves : List.<QuotaNode>of()) {
                if (!countedIn.contains(leaf.tree())) {
                    countedIn.add(leaf.tree());
                    leaf.addWaiting(gpuMilli);
                }
            }
        }
    }

    /** How many of a line's workers the bounds beside the trees leave room for, after the lines before it. */
    private long withinCeilings(Line line, long wanted, Map<Ceiling, Long> ofCeilings) {
        Line.Key key = line.key();
        List<Ceiling> ceilings = books.cluster().ceilings().over(key.path(), key.user());
        List<Wish> asked = wishes.of(line);
        if (ceilings.isEmpty() || asked.isEmpty()) {
            return wanted;
        }
        int perWorkload = line.surplus() ? 1 : key.shape().allWorkers();
        long ofOne = line.gpuMilliOf(asked.getFirst().space(), perWorkload);
        long left = wanted;
        for (Ceiling ceiling : ceilings) {
            long each = ceiling.countOf(ofOne, !line.surplus());
            long room = ceiling.most() - ceiling.used().next() - ofCeilings.getOrDefault(ceiling, 0L);
            left = each == 0 ? left : Math.min(left, Math.max(0, room) / each * perWorkload);
        }
        for (Ceiling ceiling : ceilings) {
            ofCeilings.merge(ceiling, left / perWorkload * ceiling.countOf(ofOne, !line.surplus()), Long::sum);
        }
        return left;
    }
}
