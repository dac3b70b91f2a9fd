package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Submitter;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Terms;
import java.util.HashMap;
import java.util.Map;

/**
 * Interns terms and submitters, which thousands of workloads share: each distinct value is stored once.
 * Single-threaded.
 */
public final class TermsInterner {

    /**
     * Far above the number of queues and users that are active at a time. At this size all values are dropped, which
     * only costs memory.
     */
    private static final int MAX_ENTRIES = 10_000;

    private final Map<Terms, Terms> terms = new HashMap<>();
    private final Map<Submitter, Submitter> submitters = new HashMap<>();

    Terms intern(Terms value) {
        return internIn(terms, value);
    }

    Submitter intern(Submitter value) {
        return internIn(submitters, value);
    }

    /** The first value that equals this one. */
    private static <T> T internIn(Map<T, T> known, T value) {
        if (known.size() >= MAX_ENTRIES) {
            known.clear();
        }
        T first = known.putIfAbsent(value, value);
        return first == null ? value : first;
    }
}
