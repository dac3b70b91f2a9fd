package io.quartermaster.platform.db;

/** Thrown when a transaction exceeds its time limit as a whole; none of its writes is committed. */
public final class TransactionTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TransactionTimeoutException(String message) {
        super(message);
    }
}
