package io.quartermaster.governance;

/** What becomes of work that is preempted. */
public enum OnPreemption {
    /** It waits again, at the head of its priority, and finds its checkpoint folder again. */
    REQUEUE,
    /** It is over. */
    END,
    /** Its processes stay and its devices are freed; only where GPU memory can be moved off the device, else as requeue. */
    PAUSE
}
