package io.quartermaster.platform.db;

import io.smallrye.mutiny.TimeoutException;
import io.vertx.core.VertxException;
import io.vertx.pgclient.PgException;
import java.io.IOException;
import java.util.Set;
import java.util.function.Predicate;
import org.hibernate.JDBCException;
import org.jspecify.annotations.Nullable;

/**
 * Separates the transient failures of the database (outages, timeouts, locks, lost connections) from those that the
 * same data cause again. Stored data is never the cause of a transient failure.
 */
public final class DatabaseFailures {

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /**
     * Classes of SQLSTATE: connection, transaction rollback, insufficient resources, operator intervention (statement
     * timeouts included), system error. The single states beside them are a transaction that was idle or open too long,
     * and a lock that was not available.
     */
    private static final Set<String> TRANSIENT_CLASSES = Set.of("08", "40", "53", "57", "58");

    private static final Set<String> TRANSIENT_STATES = Set.of("25P03", "25P04", LOCK_NOT_AVAILABLE);

    private static final int MAX_CAUSE_DEPTH = 20;

    private DatabaseFailures() {}

    /** Whether the failure, or one of its causes, is transient. */
    public static boolean isTransient(Throwable failure) {
        return any(failure, DatabaseFailures::isTransientItself);
    }

    /** Whether a row that the statement needed stayed locked by another transaction for too long. */
    public static boolean isLockTimeout(Throwable failure) {
        return any(failure, cause -> LOCK_NOT_AVAILABLE.equals(state(cause)));
    }

    /** Whether the database refused a statement, so that nothing more can be done in the transaction. */
    public static boolean isRefusal(Throwable failure) {
        return any(failure, cause -> state(cause) != null);
    }

    private static boolean any(Throwable failure, Predicate<Throwable> test) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MAX_CAUSE_DEPTH; depth++) {
            if (test.test(cause)) {
                return true;
            }
            cause = cause.getCause();
        }
        return false;
    }

    private static boolean isTransientItself(Throwable failure) {
        String state = state(failure);
        if (state != null) {
            return isTransientState(state);
        }
        // For some lost connections, the client throws exceptions that have no type of their own.
        return failure instanceof TimeoutException
                || failure instanceof java.util.concurrent.TimeoutException
                || failure instanceof IOException
                || failure instanceof TransactionTimeoutException
                || failure instanceof VertxException
                || failure.getClass().getName().startsWith("io.vertx.core.impl.");
    }

    public static boolean isTransientState(String state) {
        return TRANSIENT_STATES.contains(state)
                || TRANSIENT_CLASSES.contains(state.substring(0, Math.min(2, state.length())));
    }

    /**
     * The SQLSTATE of a refusal of the database, from either of the two clients, whose exceptions differ; null for any
     * other failure.
     */
    static @Nullable public String state(Throwable failure) {
        return switch (failure) {
            case PgException refused -> refused.getSqlState();
            case JDBCException refused -> refused.getSQLState();
            default -> null;
        };
    }
}
