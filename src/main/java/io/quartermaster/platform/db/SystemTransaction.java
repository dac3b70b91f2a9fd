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
 * One transaction of the system role for a background loop that owns its thread. Statements run in the order in which they are given;
 * those that are only sent are on their way together, so that a commit of many tables does not wait for each. Never used on an event
 * loop. Arrays are passed as arrays ({@code UUID[]}, {@code String[]}, {@code Long[]}) for set-based statements with {@code unnest}.
 */
public final class SystemTransaction {

    private final SqlConnection connection;
    private final Duration timeout;
    private final TransactionDeadline transactionDeadline;
    private final List<CompletableFuture<RowSet<Row>>> sent = new ArrayList<>();

    SystemTransaction(SqlConnection connection, Duration timeout, TransactionDeadline transactionDeadline) {
        this.connection = connection;
        this.timeout = timeout;
        this.transactionDeadline = transactionDeadline;
    }

    /** Fails when the statement, or one sent before it, fails or takes longer than the transaction may. */
    public RowSet<Row> run(String sql, @Nullable Object... parameters) {
        CompletableFuture<RowSet<Row>> rows = start(sql, parameters);
        settle();
        return await(rows);
    }

    /** Starts a statement whose rows nobody reads yet. What it fails with is told by the next one that is waited for, or by the commit. */
    public Sent send(String sql, @Nullable Object... parameters) {
        CompletableFuture<RowSet<Row>> rows = start(sql, parameters);
        sent.add(rows);
        return new Sent(rows);
    }

    /** A statement on its way. */
    public final class Sent {
        private final CompletableFuture<RowSet<Row>> rows;

        private Sent(CompletableFuture<RowSet<Row>> rows) {
            this.rows = rows;
        }

        /** How many rows it touched; waits for it. */
        public int rowCount() {
            return rows().rowCount();
        }

        /** What it returned; waits for it. */
        public RowSet<Row> rows() {
            settle();
            return await(rows);
        }
    }

    /** Several statements without parameters. */
    void sendScript(String sql) {
        sent.add(connection.query(sql).execute().subscribeAsCompletionStage());
    }

    /** Waits for what was sent; the first failure is told, since those after it only say that the transaction is over. */
    public void settle() {
        List<CompletableFuture<RowSet<Row>>> waitedFor = List.copyOf(sent);
        sent.clear();
        waitedFor.forEach(this::await);
    }

    private CompletableFuture<RowSet<Row>> start(String sql, @Nullable Object... parameters) {
        return connection
                .preparedQuery(sql)
                .execute(Tuple.tuple(Arrays.asList(parameters)))
                .subscribeAsCompletionStage();
    }

    private RowSet<Row> await(CompletableFuture<RowSet<Row>> rows) {
        return Uni.createFrom().completionStage(rows).await().atMost(transactionDeadline.within(timeout));
    }
}
