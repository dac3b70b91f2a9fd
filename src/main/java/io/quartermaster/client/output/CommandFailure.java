package io.quartermaster.client.output;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Ends a command with a message for its reader. It is no error of the program, so no stack trace is printed.
 */
public final class CommandFailure extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final ExitStatus status;
    private final List<String> details;
    private final @Nullable String requestId;

    /**
     * @param details further lines, for example the fields that the service refused
     * @param requestId the id under which the service logged the request, if one was sent
     */
    public CommandFailure(ExitStatus status, String message, List<String> details, @Nullable String requestId) {
        super(message);
        this.status = status;
        this.details = List.copyOf(details);
        this.requestId = requestId;
    }

    public CommandFailure(ExitStatus status, String message) {
        this(status, message, List.of(), null);
    }

    /** The message of a wrong option, argument or file. */
    public static CommandFailure usage(String message) {
        return new CommandFailure(ExitStatus.USAGE, message);
    }

    public ExitStatus status() {
        return status;
    }

    public List<String> details() {
        return details;
    }

    public @Nullable String requestId() {
        return requestId;
    }

    /** The message; never null here. */
    public String text() {
        return String.valueOf(getMessage());
    }
}
