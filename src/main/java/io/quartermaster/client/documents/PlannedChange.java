package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/**
 * A stated object, with what has to be done to make it so.
 *
 * @param present the object as the plan found it; null if it does not exist
 * @param difference the fields to change; empty for a creation
 */
record PlannedChange(
        ObjectKind kind,
        StatedObject object,
        Action action,
        @Nullable PresentObject present,
        ObjectNode difference,
        ServiceCheck check) {

    /** The action of the plan on an object. */
    enum Action {
        CREATE,
        CHANGE,
        NONE
    }

    /** The kind and the label, such as {@code policy vision}. */
    String title() {
        return kind.word() + " " + kind.label(object);
    }

    PlannedChange checked(ServiceCheck result) {
        boolean same = action == Action.CHANGE && result instanceof ServiceCheck.Accepted accepted && accepted.isSame();
        return new PlannedChange(kind, object, same ? Action.NONE : action, present, difference, result);
    }
}
