package io.quartermaster.engine.model;

/** Whether work of a queue that cannot start yet lets the work behind it pass. */
public enum QueueOrder {
    /** A blocked workload does not block the next. */
    SKIP_AHEAD,
    /** Nobody starts, makes room or claims before the first of its queue has started. */
    STRICT_FIFO
}
