package io.quartermaster.ledger;

import java.util.List;
import java.util.TreeSet;

/**
 * Which live allocations fill a reserved amount: in order of (start, id), each takes what is left of it. So there are
 * some that are wholly inside, then at most one that is partly, then those wholly outside; the border between the first
 * and the rest is kept, and a change moves it past exactly the allocations whose fill changes. An operation costs
 * O(log n) and O(log n) more for each of those.
 */
final class ReservationFill {
    /** How the reserved amount went since the last closed hour. */
    final Timeline<Long> reserved = new Timeline<>();

    private final TreeSet<Holding> inside = new TreeSet<>();
    private final TreeSet<Holding> rest = new TreeSet<>();
    private long reservedGpuMilli;
    private long insideGpuMilli;
    private long restGpuMilli;

    /** States the reserved amount; adds the allocations whose fill may have changed to {@code touched}. */
    void reserve(long atMillis, long gpuMilli, List<Holding> touched) {
        reserved.set(atMillis, gpuMilli);
        reservedGpuMilli = gpuMilli;
        moveBorder(touched);
    }

    /** Adds a live allocation; it and those it displaces are added to {@code touched}. */
    void add(Holding holding, List<Holding> touched) {
        touched.add(holding);
        if (!inside.isEmpty() && holding.compareTo(inside.last()) < 0) {
            inside.add(holding);
            insideGpuMilli = Math.addExact(insideGpuMilli, holding.gpuMilli);
        } else {
            touchFirstOutside(touched);
            rest.add(holding);
            restGpuMilli = Math.addExact(restGpuMilli, holding.gpuMilli);
        }
        moveBorder(touched);
    }

    /** Removes a live allocation; those that take its place are added to {@code touched}. */
    void remove(Holding holding, List<Holding> touched) {
        if (inside.remove(holding)) {
            insideGpuMilli -= holding.gpuMilli;
        } else if (rest.remove(holding)) {
            restGpuMilli -= holding.gpuMilli;
        }
        moveBorder(touched);
    }

    /** How much of the reserved amount a live allocation fills. */
    long fillOf(Holding holding) {
        if (inside.contains(holding)) {
            return holding.gpuMilli;
        }
        return rest.first() == holding ? reservedGpuMilli - insideGpuMilli : 0;
    }

    long idleGpuMilli() {
        return Math.max(0, reservedGpuMilli - insideGpuMilli - restGpuMilli);
    }

    boolean isEmpty() {
        return reservedGpuMilli == 0 && inside.isEmpty() && rest.isEmpty();
    }

    private void moveBorder(List<Holding> touched) {
        while (insideGpuMilli > reservedGpuMilli) {
            touchFirstOutside(touched);
            Holding last = inside.removeLast();
            rest.add(last);
            insideGpuMilli -= last.gpuMilli;
            restGpuMilli += last.gpuMilli;
        }
        while (!rest.isEmpty() && insideGpuMilli + rest.first().gpuMilli <= reservedGpuMilli) {
            Holding first = rest.removeFirst();
            inside.add(first);
            insideGpuMilli += first.gpuMilli;
            restGpuMilli -= first.gpuMilli;
            touched.add(first);
        }
        touchFirstOutside(touched);
    }

    /** Only the first one outside can be partly filled, so only it changes without crossing the border. */
    private void touchFirstOutside(List<Holding> touched) {
        if (!rest.isEmpty()) {
            touched.add(rest.first());
        }
    }
}
