package io.quartermaster.platform.db;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of the system role for a background loop that owns its thread. Statements run in the order in which
 * they are given; those that are only sent are pipelined, so that a commit of many tables does not wait for each. Never
 * used on an event loop. Arrays are passed as arrays ({@code UUID[]}, {@code String[]}, {@code Long[]}) for set-based
 * statements with {@code unnest}.
 */
public final class SystemTransaction {

    private final SqlConnection connection;
    private final Duration timeout;
    private final TransactionDeadline transactionDeadline;
    private final List<CompletableFuture<RowSet<Row>>> pending = new ArrayList<>();

    SystemTransaction(SqlConnection connection, Duration timeout, TransactionDeadline transactionDeadline) {
        this.connection = connection;
        this.timeout = timeout;
        this.transactionDeadline = transactionDeadline;
    }

    /**
     * Runs a statement and waits for it. Fails when the statement, or one sent before it, fails or exceeds the time
     * limit.
     */
    public RowSet<Row> run(String sql, @Nullable Object... parameters) {
        CompletableFuture<RowSet<Row>> rows = execute(sql, parameters);
        awaitSent();
        return await(rows);
    }

    /**
     * Sends a statement without waiting for its rows. The next statement that is waited for, or the commit, throws its
     * failure.
     */
    public PendingStatement send(String sql, @Nullable Object... parameters) {
        CompletableFuture<RowSet<Row>> rows = execute(sql, parameters);
        pending.add(rows);
        return new PendingStatement(rows);
    }

    /** A statement that was sent and may not have completed. */
    public final class PendingStatement {
        private final CompletableFuture<RowSet<Row>> rows;

        private PendingStatement(CompletableFuture<RowSet<Row>> rows) {
            this.rows = rows;
        }

        /** Waits for the statement and returns the number of rows that it touched. */
        public int rowCount() {
            return rows().rowCount();
        }

        /** Waits for the statement and returns its rows. */
        public RowSet<Row> rows() {
            awaitSent();
            return await(rows);
        }
    }

    /** Sends several statements without parameters. */
    void sendScript(String sql) {
        pending.add(connection.query(sql).execute().subscribeAsCompletionStage());
    }

    /**
     * Waits for the statements that were sent and throws the first failure: later ones only report that the transaction
     * has ended.
     */
    public void awaitSent() {
        List<CompletableFuture<RowSet<Row>>> waitedFor = List.copyOf(pending);
        pending.clear();
        waitedFor.forEach(this::await);
    }

    private CompletableFuture<RowSet<Row>> execute(String sql, @Nullable Object... parameters) {
        return connection
                .preparedQuery(sql)
                .execute(Tuple.tuple(Arrays.asList(parameters)))
                .subscribeAsCompletionStage();
    }

    private RowSet<Row> await(CompletableFuture<RowSet<Row>> rows) {
        return Uni.createFrom().completionStage(rows).await().atMost(transactionDeadline.remaining(timeout));
    }
}
