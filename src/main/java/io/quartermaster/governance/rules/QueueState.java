package io.quartermaster.governance.rules;

/** The state of a queue, which an admin sets. Running work continues in every state. */
public enum QueueState {
    OPEN,
    /** The queue accepts submissions, but starts no waiting work. */
    HELD,
    /** The queue accepts no submissions; its waiting and running work continues to its end. */
    DRAINING
}
