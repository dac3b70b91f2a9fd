package io.quartermaster.engine.model;

/** Why a place is no longer kept for a workload; the first that applies. */
public enum NominationEnd {
    /** The pool is gone. */
    NO_POOL,
    /** It may start on another node only. */
    ANOTHER_NODE,
    /** It is held, by itself or by its queue. */
    HELD,
    /** Its tenant or group is suspended, or its GPU-hours are used up. */
    SUSPENDED,
    /** Nothing runs work in the pool. */
    NO_EXECUTOR,
    /** The pool is closed to it. */
    CLOSED,
    /** The devices are not there any more, or not for it. */
    NO_DEVICES,
    /** By now a limit or a cap is in the way. */
    LIMIT,
    /** Too little is left of a budget. */
    BUDGET,
    /** It lost workers that it cannot run without, and they were not replaced in time. */
    INCOMPLETE
}
