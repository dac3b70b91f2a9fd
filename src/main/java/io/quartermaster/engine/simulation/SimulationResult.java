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
 * Result of a simulated scenario.
 *
 * @param failures a sentence for each expectation that did not hold, in order of time
 * @param usage by tenant, the GPUs in use in thousandths, at each change
 * @param waiting the number of waiting workloads in thousandths, at each change
 * @param capacity the GPUs of all pools in thousandths, without those of lost nodes, at each change
 * @param endMillis the last simulated moment
 */
public record SimulationResult(
        String scenario,
        List<String> failures,
        List<TimedDecision> decisions,
        List<StateSample> stateSamples,
        SortedMap<String, List<Sample>> usage,
        List<Sample> waiting,
        List<Sample> capacity,
        long endMillis) {

    public SimulationResult {
        failures = List.copyOf(failures);
        decisions = List.copyOf(decisions);
        stateSamples = List.copyOf(stateSamples);
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
     * @param receipt its receipt; empty if the simulation derived no receipts
     */
    public record TimedDecision(long atMillis, Decision decision, Optional<DecisionReceipt> receipt) {}

    /** The state at an expectation. */
    public record StateSample(long atMillis, List<Workload> workloads, List<WaitReasons> waits) {}
}
