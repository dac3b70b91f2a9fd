package io.quartermaster.governance;

import io.quartermaster.platform.ProblemException;
import org.jspecify.annotations.Nullable;

/** What becomes of the work that waits in a queue which is retired. What runs goes on, as over-quota. */
sealed interface OnWaiting {

    String DESCRIPTION = "What becomes of work that waits. Absent: the service refuses the call while work waits.";
    String MOVE_TO = "Name of the queue that the waiting work moves to; needed with `onWaiting=move`.";
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
