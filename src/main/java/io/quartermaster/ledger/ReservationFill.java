package io.quartermaster.ledger;

import java.util.List;
import java.util.TreeSet;

/**
 * The live allocations that fill a reserved amount. In order of (start, id), each takes as much as is left. So the
 * first ones are wholly inside, at most one is partly inside, and the others are wholly outside. The border between
 * those inside and the rest is stored. A change moves the border past exactly the allocations whose fill changes. An
 * operation costs O(log n), and O(log n) more for each of those allocations.
 */
final class ReservationFill {
    /** The reserved amount since the last closed hour. */
    final Timeline<Long> reserved = new Timeline<>();

    private final TreeSet<Holding> inside = new TreeSet<>();
    private final TreeSet<Holding> outside = new TreeSet<>();
    private long reservedGpuMilli;
    private long insideGpuMilli;
    private long outsideGpuMilli;

    /** Sets the reserved amount; adds the allocations whose fill may have changed to {@code touched}. */
    void setReserved(long atMillis, long gpuMilli, List<Holding> touched) {
        reserved.set(atMillis, gpuMilli);
        reservedGpuMilli = gpuMilli;
        moveBorder(touched);
    }

    /** Adds a live allocation; adds it and the allocations that it displaces to {@code touched}. */
    void add(Holding holding, List<Holding> touched) {
        touched.add(holding);
        if (!inside.isEmpty() && holding.compareTo(inside.last()) < 0) {
            inside.add(holding);
            insideGpuMilli = Math.addExact(insideGpuMilli, holding.gpuMilli);
        } else {
            touchFirstOutside(touched);
            outside.add(holding);
            outsideGpuMilli = Math.addExact(outsideGpuMilli, holding.gpuMilli);
        }
        moveBorder(touched);
    }

    /** Removes a live allocation; adds the allocations that take its place to {@code touched}. */
    void remove(Holding holding, List<Holding> touched) {
        if (inside.remove(holding)) {
            insideGpuMilli -= holding.gpuMilli;
        } else if (outside.remove(holding)) {
            outsideGpuMilli -= holding.gpuMilli;
        }
        moveBorder(touched);
    }

    /** The part of the reserved amount that a live allocation fills. */
    long fillOf(Holding holding) {
        if (inside.contains(holding)) {
            return holding.gpuMilli;
        }
        return outside.first() == holding ? reservedGpuMilli - insideGpuMilli : 0;
    }

    long idleGpuMilli() {
        return Math.max(0, reservedGpuMilli - insideGpuMilli - outsideGpuMilli);
    }

    boolean isEmpty() {
        return reservedGpuMilli == 0 && inside.isEmpty() && outside.isEmpty();
    }

    private void moveBorder(List<Holding> touched) {
        while (insideGpuMilli > reservedGpuMilli) {
            touchFirstOutside(touched);
            Holding last = inside.removeLast();
            outside.add(last);
            insideGpuMilli -= last.gpuMilli;
            outsideGpuMilli += last.gpuMilli;
        }
        while (!outside.isEmpty() && insideGpuMilli + outside.first().gpuMilli <= reservedGpuMilli) {
            Holding first = outside.removeFirst();
            inside.add(first);
            insideGpuMilli += first.gpuMilli;
            outsideGpuMilli -= first.gpuMilli;
            touched.add(first);
        }
        touchFirstOutside(touched);
    }

    /**
     * Marks the first allocation outside: only it can be partly filled, so only it changes without crossing the border.
     */
    private void touchFirstOutside(List<Holding> touched) {
        if (!outside.isEmpty()) {
            touched.add(outside.first());
        }
    }
}
