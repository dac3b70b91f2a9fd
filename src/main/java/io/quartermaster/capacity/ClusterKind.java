package io.quartermaster.capacity;

/** How work runs in a cluster. */
public enum ClusterKind {
    /** Bare metal and virtual machines with our agent on each. */
    AGENT,
    KUBERNETES,
    SLURM,
    /** Machines that are only pretended. */
    SIMULATED,
    /** Another orchestrator leases a grant and runs the work itself. */
    EXTERNAL
}
