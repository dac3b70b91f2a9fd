package io.quartermaster.engine.placement;

/** The moment at which capacity must be free. */
public enum Availability {
    /** Free now and not nominated. */
    NOW,
    /** Free after all evicted work has left. */
    AFTER_RELEASES,
    /** Free now, whether it is nominated or not. It serves explanations only. */
    IGNORING_NOMINATIONS
}
