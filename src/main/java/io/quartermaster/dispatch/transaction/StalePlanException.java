package io.quartermaster.dispatch.transaction;

/**
 * The inputs of a plan have changed: nothing of it is committed, and the next plan uses the new state. It is no
 * failure.
 */
public final class StalePlanException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    StalePlanException(String message) {
        super(message, null, false, false);
    }
}
