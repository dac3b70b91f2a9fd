package io.quartermaster.launch;

import org.jspecify.annotations.Nullable;

/** A failure that the user can fix. The message gives the reason and the remedy, and the user sees nothing else. */
public final class StartFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StartFailure(String message) {
        super(message);
    }

    public StartFailure(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Only the message, because the name of the class does not help a user. */
    @Override
    public String toString() {
        return String.valueOf(getMessage());
    }
}
