package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.RequestKey;
import io.quartermaster.engine.model.SearchPosition;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

/**
 * The searches for moves that failed, and so are not repeated until work leaves or becomes movable. They form rounds:
 * when a plan has used up its budget, the next plans continue with the requests that were not tried yet, whatever
 * leaves meanwhile. Only a new round tries the others again. Without this, the first requests would use up every budget
 * of a busy cell.
 */
public final class MoveSearches {
    private final Set<RequestKey> failed = new LinkedHashSet<>();
    private final Set<RequestKey> failedBefore = new LinkedHashSet<>();
    private boolean unfinished;
    private long releases;

    /**
     * Counts that work has left, or may have become movable. Capacity and quota that come free in one pool may let work
     * of another pool move, because quotas over all pools bind both.
     */
    public void countRelease() {
        releases++;
        if (unfinished) {
            failedBefore.addAll(failed);
        }
        failed.clear();
    }

    /** How often work has left, or may have become movable. */
    public long releases() {
        return releases;
    }

    /** Whether moves are not to be tried for a request. */
    boolean isKnownToFail(RequestKey request) {
        return failed.contains(request) || failedBefore.contains(request);
    }

    /** Whether a request is only left out until the next round, although moves may make room for it by now. */
    boolean isLeftToNextRound(RequestKey request) {
        return failedBefore.contains(request) && !failed.contains(request);
    }

    /** Records that moves make no room for a request. */
    void recordFailure(RequestKey request) {
        failed.add(request);
    }

    /**
     * Ends the searches of a plan.
     *
     * @param searchesExhausted whether the plan left some searches to the next plan
     * @return whether the next plan must follow immediately, to continue or to begin a new round
     */
    public boolean endPlan(boolean searchesExhausted) {
        boolean again = searchesExhausted || !failedBefore.isEmpty();
        if (!searchesExhausted) {
            failedBefore.clear();
        }
        unfinished = searchesExhausted;
        return again;
    }

    /** Forgets all searches, because pools, nodes or quotas have changed. */
    public void clear() {
        countRelease();
        failed.clear();
        failedBefore.clear();
        unfinished = false;
    }

    /** The position, for a snapshot. */
    public SearchPosition position(OptionalLong transitionAtMillis, long lastPlanMillis) {
        return new SearchPosition(
                unfinished, List.copyOf(failed), List.copyOf(failedBefore), transitionAtMillis, lastPlanMillis);
    }

    /** Continues from the position of a snapshot. */
    public void restore(SearchPosition position) {
        clear();
        unfinished = position.unfinished();
        failed.addAll(position.failed());
        failedBefore.addAll(position.failedBefore());
    }
}
