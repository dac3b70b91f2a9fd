package io.quartermaster.platform;

import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of the system role for a background loop that owns its thread: statements are awaited one by one. Never used on an
 * event loop. Arrays are passed as arrays ({@code UUID[]}, {@code String[]}, {@code Long[]}) for set-based statements with
 * {@code unnest}.
 */
public final class SystemTransaction {

    private final SqlConnection connection;
    private final Duration timeout;

    SystemTransaction(SqlConnection connection, Duration timeout) {
        this.connection = connection;
        this.timeout = timeout;
    }

    /** Fails when the statement takes longer than the transaction may. */
    public RowSet<Row> run(String sql, @Nullable Object... parameters) {
        return connection
                .preparedQuery(sql)
                .execute(Tuple.tuple(Arrays.asList(parameters)))
                .await()
                .atMost(timeout);
    }

    /** Several statements without parameters. */
    void script(String sql) {
        connection.query(sql).execute().await().atMost(timeout);
    }
}
