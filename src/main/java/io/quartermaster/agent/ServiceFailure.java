package io.quartermaster.agent;

import java.io.IOException;

/**
 * An answer of the service that is none of those asked for.
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

    /** Of the problem document; empty where there was none. */
    String code() {
        return code;
    }
}
