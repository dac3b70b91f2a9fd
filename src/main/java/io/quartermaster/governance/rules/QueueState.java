package io.quartermaster.governance.rules;

/** What an admin lets happen in a queue. What runs goes on in each. */
public enum QueueState {
    OPEN,
    /** Submissions are taken; what waits is not started. */
    HELD,
    /** No submissions are taken; what waits and what runs goes on to its end. */
    DRAINING
}
