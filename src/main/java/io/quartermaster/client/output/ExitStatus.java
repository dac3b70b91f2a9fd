package io.quartermaster.client.output;

/** The exit codes of the commands of people. {@code docs/reference/commands.md} lists them. */
public enum ExitStatus {
    OK(0),
    /** The awaited work did not succeed, or the command failed in a way that has no code of its own. */
    FAILED(1),
    /** An option or a file is wrong, or no server is chosen. */
    USAGE(2),
    NOT_SIGNED_IN(3),
    NOT_FOUND(4),
    /** The service refused the request: a permission, a rule, the present state, or a limit. */
    REFUSED(5),
    /** The service or Keycloak does not answer, or answers with a failure of its own (HTTP 5xx). */
    UNAVAILABLE(6);

    private final int code;

    ExitStatus(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }
}
