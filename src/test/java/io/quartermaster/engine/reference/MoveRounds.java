package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import java.util.HashSet;
import java.util.Set;

/**
 * The requests for which moves made no room. They are not tried again until work leaves or becomes movable, and in an
 * unfinished round not before all others were tried.
 */
final class MoveRounds {
    private final Set<Request> failed = new HashSet<>();
    private final Set<Request> triedInThisRound = new HashSet<>();
    private boolean unfinished;

    /** @param tenant empty if it does not matter */
    record Request(PoolId pool, Shape shape, int workers, String tenant) {}

    void release() {
        if (unfinished) {
            triedInThisRound.addAll(failed);
        }
        failed.clear();
    }

    boolean mayBeTried(Request request) {
        return !failed.contains(request) && !triedInThisRound.contains(request);
    }

    void failed(Request request) {
        failed.add(request);
    }

    void endPlan(boolean isSomethingLeft) {
        if (!isSomethingLeft) {
            triedInThisRound.clear();
        }
        unfinished = isSomethingLeft;
    }

    void clear() {
        failed.clear();
        triedInThisRound.clear();
        unfinished = false;
    }
}
