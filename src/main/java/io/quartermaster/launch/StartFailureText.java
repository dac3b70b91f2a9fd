package io.quartermaster.launch;

import java.util.Locale;
import org.flywaydb.core.api.exception.FlywayValidateException;
import org.jspecify.annotations.Nullable;

/** The message of a failed start. */
public final class StartFailureText {

    private StartFailureText() {}

    public static String rootMessage(Throwable failure) {
        Throwable root = failure;
        for (@Nullable Throwable cause = root; cause != null; cause = cause.getCause()) {
            root = cause;
            if (cause instanceof FlywayValidateException) {
                return "The database does not have the schema of this version. Run qm migrate with the owner's "
                        + "account, or start the service with it. "
                        + cause.getMessage();
            }
        }
        return String.format(Locale.ROOT, "%s: %s", root.getClass().getSimpleName(), root.getMessage());
    }
}
