package io.quartermaster.cli.load;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts of the calls of all agents of a run, and when each attempt's order arrived. Threads: any. */
final class AgentCalls {

    private static final int MAX_FAILURES = 20;
    private static final int MAX_FAILURE_CHARS = 300;

    private final LongAdder answered = new LongAdder();
    private final LongAdder abandoned = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder sentBytes = new LongAdder();
    private final LongAdder answeredBytes = new LongAdder();
    private final Map<UUID, Instant> orderArrivals = new ConcurrentHashMap<>();
    private final Map<String, Integer> failures = new ConcurrentHashMap<>();

    /** The counts at one time. */
    record Counts(long answered, long abandoned, long failed, long sentBytes, long answeredBytes) {

        Counts minus(Counts earlier) {
            return new Counts(
                    answered - earlier.answered,
                    abandoned - earlier.abandoned,
                    failed - earlier.failed,
                    sentBytes - earlier.sentBytes,
                    answeredBytes - earlier.answeredBytes);
        }
    }

    void recordSent(int bytes) {
        sentBytes.add(bytes);
    }

    void recordAnswered(int bytes) {
        answered.increment();
        answeredBytes.add(bytes);
    }

    void recordAbandoned() {
        abandoned.increment();
    }

    void recordFailed(String failure) {
        failed.increment();
        String text = failure.substring(0, Math.min(MAX_FAILURE_CHARS, failure.length()));
        if (failures.size() < MAX_FAILURES) {
            failures.merge(text, 1, Integer::sum);
        }
    }

    void recordOrder(String attempt) {
        orderArrivals.putIfAbsent(UUID.fromString(attempt), Instant.now());
    }

    Counts counts() {
        return new Counts(answered.sum(), abandoned.sum(), failed.sum(), sentBytes.sum(), answeredBytes.sum());
    }

    Optional<Instant> orderArrival(UUID attempt) {
        return Optional.ofNullable(orderArrivals.get(attempt));
    }

    /** Some of the failures, and how often each occurred. */
    Map<String, Integer> failures() {
        return new TreeMap<>(failures);
    }
}
