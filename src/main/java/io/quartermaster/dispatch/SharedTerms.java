package io.quartermaster.dispatch;

import io.quartermaster.dispatch.WorkloadRecord.Terms;
import java.util.HashMap;
import java.util.Map;

/** What policy, profile and queue say is the same for thousands of workloads: each such value is kept once. One thread. */
final class SharedTerms {

    /** Far above the queues that are busy at a time; when it is reached everything is forgotten, which only costs memory. */
    private static final int MOST = 10_000;

    private final Map<Terms, Terms> known = new HashMap<>();

    /** The first value equal to this one. */
    Terms share(Terms terms) {
        if (known.size() >= MOST) {
            known.clear();
        }
        Terms first = known.putIfAbsent(terms, terms);
        return first == null ? terms : first;
    }
}
