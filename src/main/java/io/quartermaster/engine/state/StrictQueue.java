package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Workload;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The waiting workloads of a {@code strict-fifo} queue, by priority and then as in a scheduling class. Only the first
 * may start. Nominated workloads stay in the queue until they start. Work that can never run as things are is not in
 * the queue and blocks nothing.
 */
public final class StrictQueue {
    private static final Comparator<Workload> IN_ORDER = Comparator.comparingInt(
                    (Workload workload) -> -workload.priority())
            .thenComparing(SchedulingClass.IN_GROUP);

    private final NavigableSet<Workload> waiting = new TreeSet<>(IN_ORDER);

    void add(Workload workload) {
        waiting.add(workload);
    }

    void remove(Workload workload) {
        waiting.remove(workload);
    }

    /** The first workload; empty if the queue is empty. */
    public Optional<Workload> first() {
        return waiting.isEmpty() ? Optional.empty() : Optional.of(waiting.first());
    }

    boolean isFirst(Workload workload) {
        return !waiting.isEmpty() && waiting.first().id().equals(workload.id());
    }
}
