package io.quartermaster.engine.model;

/** Order of a queue: whether later work may start before a workload that cannot start yet. */
public enum QueueOrder {
    /** A workload that cannot start does not block the workloads after it. */
    SKIP_AHEAD,
    /** No workload starts, evicts work or gets a backfill reservation before the first of its queue has started. */
    STRICT_FIFO
}
