package io.quartermaster.governance.rules;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The action on a workload that is preempted. */
@Schema(name = "OnPreemption")
public enum PreemptionAction {
    /** It waits again, at the head of its priority, and finds its checkpoint folder again. */
    REQUEUE,
    /** It is over. */
    END,
    /**
     * Its devices are freed, its processes stay and go on when there is room on their node; where that cannot be (several workers, a node
     * that cannot move GPU memory off its devices), as requeue.
     */
    PAUSE
}
