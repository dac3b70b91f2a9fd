package io.quartermaster.ledger;

/** What an allocation is doing while it is metered. An allocation begins as {@link #STARTING}. */
public enum Phase {
    /** Bound or being started; the work does not run yet. */
    STARTING,
    RUNNING,
    /** Told to stop, and holding its devices for up to its grace. */
    STOPPING,
    /** From the end of the work to the freeing of its devices. */
    ENDED,
    /** From the last word of a lost node to the freeing of its devices, or until it is heard again. */
    OUT_OF_CONTACT;

    /** Whether it may have begun before it is stated: what an executor could not say at the time is stated later. */
    public boolean mayReachBack() {
        return this == ENDED || this == OUT_OF_CONTACT;
    }
}
