package io.quartermaster.embedded;

import org.jspecify.annotations.Nullable;

/** Something the person at the keyboard can mend; the message says what is wrong and what to do, and is all they get to read. */
public final class StartFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StartFailure(String message) {
        super(message);
    }

    public StartFailure(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** The message alone: there is nothing about the program in it that a person would want. */
    @Override
    public String toString() {
        return String.valueOf(getMessage());
    }
}
