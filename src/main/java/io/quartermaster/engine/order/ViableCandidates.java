package io.quartermaster.engine.order;

import io.quartermaster.engine.state.SchedulingClass;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

/**
 * The candidates of a queue, among which one with an attempt left is searched. The search continues where the last one
 * found a candidate, so that candidates without attempts are not visited again for each decision.
 */
final class ViableCandidates {
    private final List<Candidate> all = new ArrayList<>();
    private final Map<SchedulingClass, Integer> places = new HashMap<>();
    private int next;

    void add(Candidate candidate) {
        places.put(candidate.schedulingClass(), all.size());
        all.add(candidate);
    }

    void remove(Candidate candidate) {
        int place = Objects.requireNonNull(places.remove(candidate.schedulingClass()));
        Candidate last = all.removeLast();
        if (place < all.size()) {
            all.set(place, last);
            places.put(last.schedulingClass(), place);
        }
    }

    /** Whether any candidate has an attempt left now. */
    boolean anyMatch(Predicate<Candidate> isViable) {
        for (int visited = 0; visited < all.size(); visited++) {
            if (next >= all.size()) {
                next = 0;
            }
            if (isViable.test(all.get(next))) {
                return true;
            }
            next++;
        }
        return false;
    }
}
