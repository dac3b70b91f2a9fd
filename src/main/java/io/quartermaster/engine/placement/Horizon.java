package io.quartermaster.engine.placement;

/** When room must be there. */
public enum Horizon {
    /** Free now and promised to nobody. */
    AT_ONCE,
    /** Free once all who were told to stop have left. */
    LATER,
    /** Free now, whomever it is promised to; only to explain. */
    IGNORING_PROMISES
}
