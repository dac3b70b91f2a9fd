package io.quartermaster.dispatch.transaction;

/**
 * The cell's stamp and this replica's clock are too far apart for this replica to lead: one of the two clocks is wrong.
 */
public final class ClockSkewException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public ClockSkewException(String message) {
        super(message);
    }
}
