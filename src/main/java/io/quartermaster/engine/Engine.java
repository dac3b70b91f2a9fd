package io.quartermaster.engine;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Decides who runs where. Changes go in, plans come out, and nothing else happens: the same changes and times give the
 * same plans. Not thread-safe; one thread decides.
 *
 * <p>A plan is taken as carried out: what it starts is placed, what it stops is stopping and keeps its devices until
 * the shell reports it gone. A plan after a plan that decided nothing decides nothing, unless something changed or
 * {@link Plan#nextPlanAtMillis} has come.
 */
public final class Engine {
    private final Settings settings;

    public Engine(Settings settings) {
        this.settings = settings;
    }

    /** Takes over what is now so. The order of changes of different things does not matter. */
    public void apply(List<Change> changes) {}

    /** Decides what to do at this moment. */
    public Plan plan(long nowMillis) {
        return new Plan(nowMillis, List.of(), List.of(), OptionalLong.empty());
    }

    /** Why a workload waits, as of the last plan; empty if it does not wait, is held, or is not known. */
    public Optional<Wait> explain(WorkloadId workload) {
        return Optional.empty();
    }

    /** Every wait as of the last plan, in order of the workloads' ids. */
    public List<Wait> waits() {
        return List.of();
    }

    public Snapshot snapshot() {
        return new Snapshot(settings, List.of(), List.of());
    }

    public static Engine restore(Snapshot snapshot) {
        Engine engine = new Engine(snapshot.settings());
        engine.apply(snapshot.facts());
        return engine;
    }
}
