package io.quartermaster.governance;

import io.quartermaster.platform.ProblemException;
import org.jspecify.annotations.Nullable;

/** What becomes of the work that waits in a queue which is retired. What runs goes on, as over-quota. */
sealed interface OnWaiting {

    String DESCRIPTION = "what becomes of work that waits: cancel or move; absent: refuse while anything waits";
    String MOVE_TO = "name of the queue that the waiting work moves to";
    String ACCEPTED = "cancel, or move together with moveTo=<queue>";

    /** The queue is not retired while anything waits in it. */
    record Refuse() implements OnWaiting {}

    record Cancel() implements OnWaiting {}

    /** Into another queue, by name; the work takes that queue's policy and shape. */
    record Move(String queue) implements OnWaiting {}

    static OnWaiting parse(@Nullable String onWaiting, @Nullable String moveTo) {
        if (onWaiting == null) {
            return new Refuse();
        }
        if (onWaiting.equals("cancel")) {
            return new Cancel();
        }
        if (onWaiting.equals("move") && moveTo != null) {
            return new Move(moveTo);
        }
        throw ProblemException.invalid("onWaiting", "does not say what becomes of the work that waits", ACCEPTED);
    }
}
