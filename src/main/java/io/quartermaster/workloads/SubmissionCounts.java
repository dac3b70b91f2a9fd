package io.quartermaster.workloads;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/**
 * The number of submitted workloads since this replica started, by result. A batch counts with all its workloads.
 * Malformed requests and dry runs are not counted. A repeated call with the same key counts again.
 */
@Startup
@ApplicationScoped
class SubmissionCounts {

    enum Outcome {
        ACCEPTED,
        /** The queue does not exist, does not admit the caller or is draining, or the tenant is not active. */
        CLOSED,
        QUEUE_FULL,
        RATE_EXCEEDED,
        /** Any other refusal because of the submission's content. */
        REFUSED,
        /** An internal error. */
        FAILED
    }

    private final Map<Outcome, Counter> counters = new EnumMap<>(Outcome.class);

    SubmissionCounts(MeterRegistry metrics) {
        for (Outcome outcome : Outcome.values()) {
            counters.put(
                    outcome,
                    Counter.builder("quartermaster.submissions")
                            .description("workloads submitted to this replica, by result")
                            .tag(
                                    "outcome",
                                    outcome.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                            .register(metrics));
        }
    }

    /** Counts the call when it ends. */
    Uni<Response> count(int workloads, Uni<Response> submission) {
        return submission
                .onItem()
                .invoke(response -> add(workloads, Outcome.ACCEPTED))
                .onFailure()
                .invoke(failure -> add(workloads, outcome(failure)));
    }

    private void add(int workloads, Outcome outcome) {
        Counter counter = counters.get(outcome);
        if (counter != null) {
            counter.increment(workloads);
        }
    }

    static Outcome outcome(Throwable failure) {
        if (!(failure instanceof ProblemException refusal)) {
            return Outcome.FAILED;
        }
        return switch (refusal.problem().code()) {
            case "not-found", "forbidden", "tenant-suspended", "queue-draining" -> Outcome.CLOSED;
            case "queue-full" -> Outcome.QUEUE_FULL;
            case "rate-exceeded" -> Outcome.RATE_EXCEEDED;
            default -> Outcome.REFUSED;
        };
    }
}
