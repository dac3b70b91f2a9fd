package io.quartermaster.engine.quota;

/** The two states of the cluster that are counted side by side. */
public enum UsageView {
    /** All that is held at this moment, including by evicted work that has not left yet. */
    CURRENT,
    /** All that will be held once the evicted work has left and all nominated work has started. */
    PROJECTED
}
