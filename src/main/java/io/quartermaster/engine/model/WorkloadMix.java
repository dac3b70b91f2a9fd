package io.quartermaster.engine.model;

import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The kinds of work that a pool is meant for, each with how often it comes. A pool that packs and knows its mix leaves
 * as little as it can that none of them could use.
 */
public record WorkloadMix(List<Kind> kinds) {

    public WorkloadMix {
        kinds = List.copyOf(kinds);
    }

    /**
     * One kind of work.
     *
     * @param gpus of one worker
     * @param models GPUs that it can use; empty = all
     * @param weight how often it comes, in any unit that is the same for all kinds
     */
    public record Kind(GpuRequest gpus, long cpuMilli, SortedSet<String> models, long weight) {
        public Kind {
            models = Collections.unmodifiableSortedSet(new TreeSet<>(models));
            if (weight < 1) {
                throw new IllegalArgumentException("a kind of work comes at least once: " + weight);
            }
        }
    }
}
