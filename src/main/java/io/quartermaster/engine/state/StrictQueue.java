package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Workload;
import java.util.Comparator;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;

/**
 * What waits in a queue of strict order, in that order: higher priority, then as in a line. Only the first has its turn; of the
 * others it is enough to know that they are not. Also those for whom a place is kept are in it until they start. Work that could
 * never run as things are is not, so it holds nobody up.
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

    /** Whose turn it is; empty when nobody waits. */
    public Optional<Workload> first() {
        return waiting.isEmpty() ? Optional.empty() : Optional.of(waiting.first());
    }

    boolean isFirst(Workload workload) {
        return !waiting.isEmpty() && waiting.first().id().equals(workload.id());
    }
}
