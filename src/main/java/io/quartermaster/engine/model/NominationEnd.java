package io.quartermaster.engine.model;

/** Reason why a nomination was withdrawn; the first that applies. */
public enum NominationEnd {
    /** The pool no longer exists. */
    NO_POOL,
    /** The workload may start on another node only. */
    ANOTHER_NODE,
    /** The workload or its queue is held. */
    HELD,
    /** Its tenant or group is suspended, or its GPU-hours are used up. */
    SUSPENDED,
    /** The pool has no executor. */
    NO_EXECUTOR,
    /** The pool is closed to the workload. */
    CLOSED,
    /** The devices no longer exist, or the workload may not use them. */
    NO_DEVICES,
    /** The start would now exceed a limit or a cap. */
    LIMIT,
    /** A budget has too little left. */
    BUDGET,
    /** The workload lost workers that it cannot run without, and they were not replaced in time. */
    INCOMPLETE
}
