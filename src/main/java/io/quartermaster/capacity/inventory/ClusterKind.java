package io.quartermaster.capacity.inventory;

import io.quartermaster.platform.EnumNames;
import java.util.List;

/** How work runs in a cluster. */
public enum ClusterKind {
    /** Bare metal and virtual machines with our agent on each. */
    AGENT,
    KUBERNETES,
    SLURM,
    /** Machines that are only pretended. */
    SIMULATED,
    /** Another orchestrator leases a grant and runs the work itself. */
    EXTERNAL;

    /** Whether this version makes clusters of the kind run work. */
    boolean isServed() {
        return this == AGENT || this == SIMULATED;
    }

    /** What those hear who make a cluster of the kind, or add a node to it. */
    List<String> warnings(String cluster) {
        return isServed()
                ? List.of()
                : List.of(
                        "cluster " + cluster + " is of kind " + EnumNames.of(this)
                                + ": this version speaks to no such orchestrator, so work runs in the cluster only on nodes with an agent");
    }
}
