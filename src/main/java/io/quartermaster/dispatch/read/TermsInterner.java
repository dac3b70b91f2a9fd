package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Submitter;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Terms;
import java.util.HashMap;
import java.util.Map;

/** What policy, profile and queue say, and whose it is, is the same for thousands of workloads: each such value is kept once. One thread. */
public final class TermsInterner {

    /** Far above the queues and the users that are busy at a time; when it is reached everything is forgotten, which only costs memory. */
    private static final int MOST = 10_000;

    private final Map<Terms, Terms> terms = new HashMap<>();
    private final Map<Submitter, Submitter> submitters = new HashMap<>();

    Terms share(Terms value) {
        return first(terms, value);
    }

    Submitter share(Submitter value) {
        return first(submitters, value);
    }

    /** The first value equal to this one. */
    private static <T> T first(Map<T, T> known, T value) {
        if (known.size() >= MOST) {
            known.clear();
        }
        T first = known.putIfAbsent(value, value);
        return first == null ? value : first;
    }
}
