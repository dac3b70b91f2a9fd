package io.quartermaster.embedded;

/** Something the person at the keyboard can mend; the message says what is wrong and what to do, and is all they get to read. */
public final class StartFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StartFailure(String message) {
        super(message);
    }

    public StartFailure(String message, @org.jspecify.annotations.Nullable Throwable cause) {
        super(message, cause);
    }
}
