package io.quartermaster.engine.preemption;

/** What can be told without a search of whether room can be made. */
public enum EvictionFeasibility {
    /** It might be. */
    POSSIBLE,
    /** Nobody may be stopped: only in what will be free once all who were told to stop have left, rearranged if need be. */
    RELEASES_ONLY,
    /** It cannot. */
    IMPOSSIBLE
}
