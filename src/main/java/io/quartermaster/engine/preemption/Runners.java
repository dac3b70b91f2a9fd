package io.quartermaster.engine.preemption;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** Who of a group may have to give way in a pool, those first who go first. */
public final class Runners {
    private final SortedSet<Unit> units = new TreeSet<>(Unit.FIRST_TO_GO);
    private int lowestPriority = Integer.MAX_VALUE;

    /** Those who run, the first to go first. */
    public SortedSet<Unit> units() {
        return units;
    }

    boolean isEmpty() {
        return units.isEmpty();
    }

    /** The lowest priority of anybody; the highest there is where nobody runs. */
    public int lowestPriority() {
        return lowestPriority;
    }

    /** Those of lower priority than some work. */
    public List<Unit> below(int priority) {
        return priority <= lowestPriority
                ? List.of()
                : units.stream()
                        .takeWhile(unit -> unit.holder().priority() < priority)
                        .toList();
    }

    void add(Holder holder) {
        units.addAll(Unit.of(holder));
        lowestPriority = Math.min(lowestPriority, holder.priority());
    }

    void remove(Holder holder) {
        Unit.of(holder).forEach(units::remove);
        if (holder.priority() == lowestPriority) {
            lowestPriority =
                    units.isEmpty() ? Integer.MAX_VALUE : units.first().holder().priority();
        }
    }
}
