package io.quartermaster.dispatch;

/** The cell's stamp and this replica's clock are too far apart for this replica to lead: one of the two clocks is wrong. */
final class ClockSkew extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ClockSkew(String message) {
        super(message);
    }
}
