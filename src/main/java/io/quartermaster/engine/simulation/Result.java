package io.quartermaster.engine.simulation;

import io.quartermaster.engine.Decision;
import io.quartermaster.engine.Wait;
import io.quartermaster.engine.Workload;
import java.util.List;

/**
 * What came of a scenario.
 *
 * @param failures a sentence for each expectation that did not hold, in order of time
 */
public record Result(String scenario, List<String> failures, List<Taken> decisions, List<Moment> moments) {

    public Result {
        failures = List.copyOf(failures);
        decisions = List.copyOf(decisions);
        moments = List.copyOf(moments);
    }

    public boolean passed() {
        return failures.isEmpty();
    }

    /** A decision with its time. */
    public record Taken(long atMillis, Decision decision) {}

    /** The state at an expectation. */
    public record Moment(long atMillis, List<Workload> workloads, List<Wait> waits) {}
}
