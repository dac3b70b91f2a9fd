package io.quartermaster.ledger;

/** The phase of a metered allocation. An allocation begins as {@link #STARTING}. */
public enum Phase {
    /** Bound, or being started; the workload does not run yet. */
    STARTING,
    RUNNING,
    /** Asked to stop; the attempt holds its devices for at most its grace period. */
    STOPPING,
    /** From the end of the attempt's processes until its devices are freed. */
    ENDED,
    /** From the last contact with a lost node until its devices are freed, or until the node is in contact again. */
    OUT_OF_CONTACT;

    /** Whether the phase may be back-dated: an executor may learn only later when it began. */
    public boolean mayReachBack() {
        return this == ENDED || this == OUT_OF_CONTACT;
    }
}
