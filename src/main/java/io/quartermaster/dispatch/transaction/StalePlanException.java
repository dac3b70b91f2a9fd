package io.quartermaster.dispatch.transaction;

/** What a plan was made of is not so any more: nothing of it is committed, and the next is made of what is there. No failure. */
public final class StalePlanException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StalePlanException(String message) {
        super(message, null, false, false);
    }
}
