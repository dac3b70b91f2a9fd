package io.quartermaster.platform.db;

import io.quarkus.reactive.datasource.ReactiveDataSource;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Transaction;
import io.vertx.pgclient.PgConnection;
import jakarta.enterprise.context.ApplicationScoped;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * Access to PostgreSQL as the system role, which sees every tenant: for the closing of hours, issuer look-up and
 * operators' lists. The leader and the executors have their own access ({@link LeaderDatabase},
 * {@link ExecutorDatabase}). An architecture test names the classes that may use it; a tenant's request never does.
 */
@ApplicationScoped
public class SystemDatabase {

    private static final Logger LOG = Logger.getLogger(SystemDatabase.class);

    private final Pool pool;

    public SystemDatabase(@ReactiveDataSource("system") Pool pool) {
        this.pool = pool;
    }

    /** Runs the work in one transaction, committed when it succeeds. */
    public <T> Uni<T> in(Function<SqlConnection, Uni<T>> work) {
        return pool.withTransaction(marked(work));
    }

    /** Runs the work in one transaction, which a dry run rolls back at the end. */
    public <T> Uni<T> in(WriteMode mode, Function<SqlConnection, Uni<T>> work) {
        return switch (mode) {
            case COMMIT -> pool.withTransaction(marked(work));
            case DRY_RUN ->
                pool.withConnection(connection -> connection.begin().chain(transaction -> marked(work)
                        .apply(connection)
                        .onItemOrFailure()
                        .call(() -> transaction.rollback().onFailure().recoverWithNull())));
        };
    }

    /**
     * The time limits of a transaction, which both the service and PostgreSQL enforce.
     *
     * @param statement for each statement
     * @param whole for the transaction from its first connection to its commit; after it, no commit is attempted
     * @param lock for the wait for rows that another transaction has locked
     */
    public record Bounds(Duration statement, Duration whole, Duration lock) {}

    /**
     * Runs the work in one transaction on the calling thread, for a background loop; committed when it returns, rolled
     * back when it throws. A failure of the commit itself leaves its outcome unknown.
     *
     * @param timeout of each statement, which both the service and PostgreSQL enforce
     */
    public <T> T run(Duration timeout, Function<SystemTransaction, T> work) {
        return run(timeout, "", new TransactionDeadline(Optional.empty()), timeout, work);
    }

    /**
     * As the method above, with time limits for the whole transaction and its locks too. Throws
     * {@link TransactionTimeoutException} instead of committing late.
     */
    public <T> T run(Bounds bounds, Function<SystemTransaction, T> work) {
        String settings = "; set local lock_timeout = " + bounds.lock().toMillis()
                + "; set local transaction_timeout = " + bounds.whole().toMillis();
        return run(
                bounds.statement(),
                settings,
                new TransactionDeadline(Optional.of(bounds.whole())),
                bounds.whole(),
                work);
    }

    private <T> T run(
            Duration timeout,
            String settings,
            TransactionDeadline transactionDeadline,
            Duration idle,
            Function<SystemTransaction, T> work) {
        SqlConnection connection = connection(transactionDeadline.remaining(timeout));
        try {
            Transaction transaction = connection.begin().await().atMost(transactionDeadline.remaining(timeout));
            T result;
            try {
                SystemTransaction open = new SystemTransaction(connection, timeout, transactionDeadline);
                open.sendScript("set local statement_timeout = " + timeout.toMillis()
                        + "; set local idle_in_transaction_session_timeout = " + idle.toMillis() + settings);
                result = OpenTransactions.runDuring(() -> work.apply(open));
                open.awaitSent();
                transactionDeadline.remaining(timeout);
            } catch (RuntimeException | Error e) {
                awaitAtMost(timeout, transaction.rollback());
                throw e;
            }
            transaction.commit().await().atMost(transactionDeadline.remaining(timeout));
            return result;
        } finally {
            awaitAtMost(timeout, connection.close());
        }
    }

    /**
     * A connection of the pool. One that arrives after the caller has given up goes back to the pool, which would run
     * dry otherwise.
     */
    private SqlConnection connection(Duration timeout) {
        CompletableFuture<SqlConnection> coming = pool.getConnection().subscribeAsCompletionStage();
        boolean taken = false;
        try {
            SqlConnection connection =
                    Uni.createFrom().completionStage(coming.copy()).await().atMost(timeout);
            taken = true;
            return connection;
        } finally {
            if (!taken) {
                coming.thenAccept(SqlConnection::closeAndForget);
            }
        }
    }

    /**
     * Gives up waiting after the timeout: on a dead connection no answer ever comes, and the thread of a loop must not
     * wait for it. An interrupted thread does not wait at all, and stays interrupted.
     */
    private static void awaitAtMost(Duration timeout, Uni<Void> last) {
        CompletableFuture<Void> done = last.subscribeAsCompletionStage();
        try {
            done.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.debugf(e, "a connection was returned to the pool before its last statement answered");
        }
    }

    /**
     * Listens to notifications on a connection that it holds. Fails when the connection is lost, and never completes.
     * Cancelling returns the connection to the pool.
     *
     * @param channel a plain identifier
     * @param onPayload called on an event loop
     */
    public Uni<Void> listen(String channel, Consumer<String> onPayload) {
        return pool.getConnection().chain(connection -> {
            PgConnection postgres = PgConnection.cast(connection.getDelegate());
            postgres.notificationHandler(notification -> onPayload.accept(notification.getPayload()));
            Uni<Void> lost = Uni.createFrom()
                    .emitter(emitter -> postgres.closeHandler(
                            closed -> emitter.fail(new IOException("the connection that listens was closed"))));
            return Uni.combine()
                    .all()
                    .unis(lost, connection.query("listen " + channel).execute().replaceWithVoid())
                    .discardItems()
                    .onTermination()
                    .invoke(() -> {
                        postgres.notificationHandler(null);
                        connection.closeAndForget();
                    });
        });
    }

    /** Runs single statements, each its own transaction. */
    public <T> Uni<T> on(Function<SqlConnection, Uni<T>> work) {
        return pool.withConnection(marked(work));
    }

    private static <T> Function<SqlConnection, Uni<T>> marked(Function<SqlConnection, Uni<T>> work) {
        return connection -> OpenTransactions.during(() -> work.apply(connection));
    }
}
