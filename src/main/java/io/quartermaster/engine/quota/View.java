package io.quartermaster.engine.quota;

/** The two states of the world that are counted side by side. */
public enum View {
    /** What is held at this moment, also by work that was told to stop. */
    CURRENT,
    /** Once all who were told to stop have left, and all for whom a place is kept have started. */
    PROJECTED
}
