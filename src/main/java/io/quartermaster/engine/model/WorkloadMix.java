package io.quartermaster.engine.model;

import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Mix of work that a pool is meant for: kinds of work, each with its frequency. A packing pool with a mix leaves as few
 * fragments as possible that none of these kinds could use.
 */
public record WorkloadMix(List<Kind> kinds) {

    public WorkloadMix {
        kinds = List.copyOf(kinds);
    }

    /**
     * One kind of work.
     *
     * @param gpus the GPUs of one worker
     * @param models the GPU models that it can use; empty = all
     * @param weight its frequency, in any unit that all kinds share
     */
    public record Kind(GpuRequest gpus, long cpuMilli, SortedSet<String> models, long weight) {
        public Kind {
            models = Collections.unmodifiableSortedSet(new TreeSet<>(models));
            if (weight < 1) {
                throw new IllegalArgumentException("the weight of a kind of work must be at least 1: " + weight);
            }
        }
    }
}
