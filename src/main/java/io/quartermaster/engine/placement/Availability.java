package io.quartermaster.engine.placement;

/** When room must be there. */
public enum Availability {
    /** Free now and promised to nobody. */
    NOW,
    /** Free once all who were told to stop have left. */
    AFTER_RELEASES,
    /** Free now, whomever it is promised to; only to explain. */
    IGNORING_NOMINATIONS
}
