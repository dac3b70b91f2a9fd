package io.quartermaster.engine.model;

/** Cause of the stop of a running workload. */
public enum EvictionCause {
    /** Another group takes back capacity that it is entitled to. */
    RECLAIM,
    /** Work of higher priority in the same group needs the devices. */
    PREEMPT,
    /** The workload moves to a nominated place: to close a gap, or back to a pool that it prefers. */
    CONSOLIDATE,
    /** Its group or tenant holds more than its limit, and the time to drain the excess is over. */
    DRAIN,
    /** Its pool has closed. */
    CLOSE,
    /** The GPU time that it may use is used up. */
    BUDGET,
    /** Workers that it cannot run without were lost, and not replaced in time. */
    INCOMPLETE,
    /** The scheduler did not cause the stop: the workload was cancelled or timed out. */
    ASKED
}
