package io.quartermaster.agent;

import java.io.IOException;

/**
 * An error that the service answered.
 *
 * @see #code
 */
final class ServiceFailure extends IOException {
    private static final long serialVersionUID = 1;

    private final int status;
    private final String code;

    ServiceFailure(int status, String code, String message) {
        super(message);
        this.status = status;
        this.code = code;
    }

    int status() {
        return status;
    }

    /** The code of the problem document; empty if there was none. */
    String code() {
        return code;
    }
}
