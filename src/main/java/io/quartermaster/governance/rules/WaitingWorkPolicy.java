package io.quartermaster.governance.rules;

import io.quartermaster.platform.http.ProblemException;
import org.jspecify.annotations.Nullable;

/** The treatment of the work that waits in a queue which is retired. Running work continues as over-quota. */
public sealed interface WaitingWorkPolicy {

    String DESCRIPTION = "What the service does with waiting work. Absent: it refuses the call while work waits.";
    String MOVE_TO = "Name of the queue that the waiting work moves to; needed with `onWaiting=move`.";
    String ACCEPTED = "cancel, or move together with moveTo=<queue>";

    /** The queue is not retired while work waits in it. */
    record Refuse() implements WaitingWorkPolicy {}

    record Cancel() implements WaitingWorkPolicy {}

    /** Moves the work into another queue, by name; the work takes the policy and the shape of that queue. */
    record Move(String queue) implements WaitingWorkPolicy {}

    static WaitingWorkPolicy parse(@Nullable String onWaiting, @Nullable String moveTo) {
        if (moveTo != null && !"move".equals(onWaiting)) {
            throw ProblemException.invalid(
                    "moveTo",
                    "is given without onWaiting=move",
                    "onWaiting=move together with moveTo=<queue>, or no moveTo");
        }
        if (onWaiting == null) {
            return new Refuse();
        }
        return switch (onWaiting) {
            case "cancel" -> new Cancel();
            case "move" -> {
                if (moveTo == null) {
                    throw ProblemException.invalid(
                            "moveTo", "is missing: onWaiting is move", "the name of a queue that is not retired");
                }
                yield new Move(moveTo);
            }
            default ->
                throw ProblemException.invalid(
                        "onWaiting", "\"" + onWaiting + "\" is not an action for waiting work", ACCEPTED);
        };
    }
}
