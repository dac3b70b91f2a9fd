package io.quartermaster.platform.db;

/** A transaction took longer than it may as a whole; nothing of it is committed. */
public final class TransactionTimeoutException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    TransactionTimeoutException(String message) {
        super(message);
    }
}
