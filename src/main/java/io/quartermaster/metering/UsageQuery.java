package io.quartermaster.metering;

import io.quartermaster.platform.db.SystemTransaction;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Queries PostgreSQL inside the caller's transaction. The same SQL thus reads a tenant's usage for the request role, an
 * operator's report and the closing of an hour.
 *
 * <p>Statements have parameters {@code $1, $2, ...}, and select two or more columns, of type {@code text} or
 * {@code bigint} only: the drivers return these types alike.
 */
@FunctionalInterface
public interface UsageQuery {

    Uni<List<Object[]>> rows(String sql, Object... parameters);

    /** Queries in the request role, within one tenant. */
    static UsageQuery of(Mutiny.Session session) {
        return (sql, parameters) -> {
            var query = session.createNativeQuery(sql.replace('$', '?'), Object[].class);
            for (int i = 0; i < parameters.length; i++) {
                query.setParameter(i + 1, parameters[i]);
            }
            return query.getResultList();
        };
    }

    /** Queries in the system role. */
    static UsageQuery of(SqlConnection connection) {
        return (sql, parameters) -> connection
                .preparedQuery(sql)
                .execute(Tuple.tuple(Arrays.asList(parameters)))
                .map(UsageQuery::values);
    }

    /** Queries in the system role in a background loop; the call blocks until the answer is there. */
    static UsageQuery of(SystemTransaction transaction) {
        return (sql, parameters) -> Uni.createFrom().item(values(transaction.run(sql, parameters)));
    }

    private static List<Object[]> values(RowSet<Row> found) {
        List<Object[]> rows = new ArrayList<>(found.size());
        for (Row row : found) {
            Object[] values = new Object[row.size()];
            for (int i = 0; i < values.length; i++) {
                values[i] = row.getValue(i);
            }
            rows.add(values);
        }
        return rows;
    }

    /** One row of an answer, read column by column. */
    final class Reader {

        private final @Nullable Object[] values;
        private int next;

        Reader(@Nullable Object[] values) {
            this.values = values;
        }

        @Nullable
        String textOrNull() {
            return (String) values[next++];
        }

        @Nullable
        Long numberOrNull() {
            return (Long) values[next++];
        }

        /** @throws IllegalStateException if the column is null */
        String text(String what) {
            return required(textOrNull(), what);
        }

        long number(String what) {
            return required(numberOrNull(), what);
        }

        private static <T> T required(@Nullable T value, String what) {
            if (value == null) {
                throw new IllegalStateException("a stored row lacks its " + what);
            }
            return value;
        }
    }
}
