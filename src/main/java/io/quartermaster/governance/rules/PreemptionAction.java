package io.quartermaster.governance.rules;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The action on a workload that is preempted. */
@Schema(name = "OnPreemption")
public enum PreemptionAction {
    /** The workload waits again, at the head of its priority, and gets its checkpoint folder back. */
    REQUEUE,
    /** The workload ends. */
    END,
    /**
     * The workload's devices are freed; its processes stay and continue when there is room on their node. Acts as
     * requeue for several workers, or on a node that cannot move GPU memory off its devices.
     */
    PAUSE
}
