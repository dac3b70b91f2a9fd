package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What came of a scenario.
 *
 * @param failures a sentence for each expectation that did not hold, in order of time
 * @param usage by tenant, the GPUs held in thousandths, each time that they changed
 * @param waiting how many wait, in thousandths of a workload, each time that it changed
 * @param capacity GPUs of all pools in thousandths, of nodes that are up, each time that they changed
 * @param endMillis the last moment that was played
 */
public record SimulationResult(
        String scenario,
        List<String> failures,
        List<Taken> decisions,
        List<Moment> moments,
        SortedMap<String, List<Sample>> usage,
        List<Sample> waiting,
        List<Sample> capacity,
        long endMillis) {

    public SimulationResult {
        failures = List.copyOf(failures);
        decisions = List.copyOf(decisions);
        moments = List.copyOf(moments);
        usage = Collections.unmodifiableSortedMap(new TreeMap<>(usage));
        waiting = List.copyOf(waiting);
        capacity = List.copyOf(capacity);
    }

    public boolean passed() {
        return failures.isEmpty();
    }

    /** A value from a moment on. */
    public record Sample(long atMillis, long value) {}

    /**
     * A decision with its time.
     *
     * @param receipt where receipts were asked for
     */
    public record Taken(long atMillis, Decision decision, Optional<DecisionReceipt> receipt) {}

    /** The state at an expectation. */
    public record Moment(long atMillis, List<Workload> workloads, List<WaitReasons> waits) {}
}
