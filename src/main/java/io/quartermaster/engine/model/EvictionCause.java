package io.quartermaster.engine.model;

/** Why a running workload is told to stop. */
public enum EvictionCause {
    /** Another group takes back what it is entitled to. */
    RECLAIM,
    /** Work of higher priority in the same group. */
    PREEMPT,
    /** It moves to a place that is kept for it: to close a gap, or back to a pool that it prefers. */
    CONSOLIDATE,
    /** By now its group or tenant may hold no more than its limit. */
    DRAIN,
    /** Its pool has closed. */
    CLOSE,
    /** The GPU time that it may use is used up. */
    BUDGET,
    /** Workers that it cannot run without were lost, and not replaced in time. */
    INCOMPLETE,
    /** Not by the scheduler: cancelled, timed out, or its node is being emptied. */
    ASKED
}
