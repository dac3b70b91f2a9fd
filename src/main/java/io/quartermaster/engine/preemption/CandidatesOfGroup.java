package io.quartermaster.engine.preemption;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** The running workloads of a group in a pool that may be evicted, in the order of eviction. */
public final class CandidatesOfGroup {
    private final SortedSet<EvictionUnit> evictionUnits = new TreeSet<>(EvictionUnit.FIRST_TO_GO);
    private int lowestPriority = Integer.MAX_VALUE;
    private long freed;

    /** The eviction units, in the order of eviction. */
    public SortedSet<EvictionUnit> units() {
        return evictionUnits;
    }

    /** How often room has come free on nodes of these workloads. */
    public long freed() {
        return freed;
    }

    void recordFreed() {
        freed++;
    }

    boolean isEmpty() {
        return evictionUnits.isEmpty();
    }

    /** The lowest priority among them; {@code Integer.MAX_VALUE} if there are none. */
    public int lowestPriority() {
        return lowestPriority;
    }

    /** The units with a lower priority than the given one. */
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
