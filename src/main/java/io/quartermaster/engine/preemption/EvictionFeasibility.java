package io.quartermaster.engine.preemption;

/** Whether making room may succeed, as far as this is known without a search. */
public enum EvictionFeasibility {
    /** Making room may succeed. */
    POSSIBLE,
    /**
     * No eviction is permitted. A place is possible only in the capacity that is free after all evicted work has left,
     * if need be after moving work.
     */
    RELEASES_ONLY,
    /** Making room cannot succeed. */
    IMPOSSIBLE
}
