package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.EnumNames;
import java.util.List;

/** The way in which work runs in a cluster. */
public enum ClusterKind {
    /** Bare metal and virtual machines with our agent on each. */
    AGENT,
    KUBERNETES,
    SLURM,
    /** Machines that exist only in memory. */
    SIMULATED,
    /** Another orchestrator leases a grant and runs the work itself. */
    EXTERNAL;

    /** Whether this version runs work in clusters of the kind. */
    boolean isServed() {
        return this == AGENT || this == SIMULATED;
    }

    /** The warnings for a caller that creates a cluster of the kind, or adds a node to it. */
    List<String> warnings(String cluster) {
        return isServed()
                ? List.of()
                : List.of("cluster " + cluster + " is of kind " + EnumNames.of(this)
                        + ": this version does not support such an orchestrator, so work in the cluster "
                        + "runs only on nodes with an agent");
    }
}
