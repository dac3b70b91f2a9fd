package io.quartermaster.engine.state;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What changed in the books, in order, so that whoever keeps something worked out of them looks again at that alone.
 * Who comes too late to be told everything is told so, and begins anew.
 */
public final class Touches {
    /** So many touches are not worth going through one by one. */
    private static final int MOST = 1 << 14;

    private final List<Touch> log = new ArrayList<>();
    private int most = MOST;
    private long begin;
    private boolean taken;

    /** From now on all that was kept is forgotten with each touch. What is worked out anew each time must come to the same. */
    public void rememberNothing() {
        most = 0;
        forgetAll();
    }

    /** The lines that touches since a place may concern: those of touched groups, or of their tenants, and single ones. */
    public Concerned concernedSince(long place) {
        List<List<Line>> together = new ArrayList<>(2);
        List<Line> single = new ArrayList<>();
        for (long at = place; at < begin + log.size(); at++) {
            switch (get(at)) {
                case Group group -> addNew(together, group.lines());
                case Group.TenantBounds bounds ->
                    addNew(together, bounds.group().tenant());
                case Line line -> single.add(line);
                case Capacity passed -> {}
                case FairShareMoved moved -> {}
                case Tried tried -> {}
            }
        }
        single.removeIf(line -> !line.isEmpty()
                && (isIn(together, line.group().lines())
                        || isIn(together, line.group().tenant())));
        return new Concerned(together, single);
    }

    private static void addNew(List<List<Line>> together, List<Line> lines) {
        if (!isIn(together, lines)) {
            together.add(lines);
        }
    }

    /** By identity: the lists of two groups may hold the same. */
    private static boolean isIn(List<List<Line>> together, List<Line> lines) {
        for (List<Line> known : together) {
            if (known == lines) {
                return true;
            }
        }
        return false;
    }

    /** Lines to be looked at again, each at least once; those by themselves may be empty by now. */
    public record Concerned(List<List<Line>> together, List<Line> single) {

        public void forEach(Consumer<Line> action) {
            single.forEach(action);
            together.forEach(lines -> lines.forEach(action));
        }
    }

    /** One thing that changed: what a group uses, a line's members, or a fair share. */
    sealed interface Touch permits Group, Group.TenantBounds, Capacity, Line, Tried, FairShareMoved {}

    /** What a line tries next is not what it was for what it has tried in this plan; of the line itself nothing changed. */
    public record Tried(Line line) implements Touch {}

    /** What there is of a pool, or of all together, may be in the way of some who were not kept by it, or the other way round. */
    public enum Capacity implements Touch {
        PASSED
    }

    static final Touch CAPACITY = Capacity.PASSED;

    public void add(Touch touch) {
        boolean again = !taken && !log.isEmpty() && log.getLast() == touch;
        if (!again) {
            if (log.size() >= most) {
                forgetAll();
            }
            log.add(touch);
            taken = false;
        }
    }

    /** All that was kept holds no longer. */
    public void forgetAll() {
        begin += log.size() + 1L;
        log.clear();
    }

    /** Where the next touch will be; who asks has taken note of all before. */
    public long end() {
        taken = true;
        return begin + log.size();
    }

    /** Whether all touches from a place on are still known. */
    public boolean knowsSince(long place) {
        return place >= begin;
    }

    public Touch get(long place) {
        return log.get((int) (place - begin));
    }
}
