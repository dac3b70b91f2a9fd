package io.quartermaster.engine.preemption;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** Who of a group may have to give way in a pool, those first who go first. */
public final class CandidatesOfGroup {
    private final SortedSet<EvictionUnit> evictionUnits = new TreeSet<>(EvictionUnit.FIRST_TO_GO);
    private int lowestPriority = Integer.MAX_VALUE;

    /** Those who run, the first to go first. */
    public SortedSet<EvictionUnit> units() {
        return evictionUnits;
    }

    boolean isEmpty() {
        return evictionUnits.isEmpty();
    }

    /** The lowest priority of anybody; the highest there is where nobody runs. */
    public int lowestPriority() {
        return lowestPriority;
    }

    /** Those of lower priority than some work. */
    public List<EvictionUnit> below(int priority) {
        return priority <= lowestPriority
                ? List.of()
                : evictionUnits.stream()
                        .takeWhile(evictionUnit -> evictionUnit.candidate().priority() < priority)
                        .toList();
    }

    void add(EvictionCandidate evictionCandidate) {
        evictionUnits.addAll(EvictionUnit.of(evictionCandidate));
        lowestPriority = Math.min(lowestPriority, evictionCandidate.priority());
    }

    void remove(EvictionCandidate evictionCandidate) {
        EvictionUnit.of(evictionCandidate).forEach(evictionUnits::remove);
        if (evictionCandidate.priority() == lowestPriority) {
            lowestPriority = evictionUnits.isEmpty()
                    ? Integer.MAX_VALUE
                    : evictionUnits.first().candidate().priority();
        }
    }
}
