package io.quartermaster.platform.db;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one transaction, of the request role or of the system role. With it, a table that both roles write
 * has its SQL once. Parameters are {@code $1}, {@code $2} and so on, and casts are {@code cast(... as ...)}.
 *
 * <p>Statements run one after the other, in the order of their subscription.
 */
public sealed interface Statements {

    /** Runs a change and returns how many rows it changed. Pending changes of the session's entities run before it. */
    Uni<Integer> update(String sql, @Nullable Object... parameters);

    /** Returns the columns of the rows that the query finds. Pending changes of entities do not run before it. */
    Uni<List<Object[]>> query(String sql, @Nullable Object... parameters);

    /** The transaction of a session of the request role. */
    static Statements of(Mutiny.Session session) {
        return new OfSession(session);
    }

    /** The transaction of a connection of the system role. */
    static Statements of(SqlConnection connection) {
        return new OfConnection(connection);
    }

    /** Statements of a session, which names parameters {@code ?1}. */
    record OfSession(Mutiny.Session session) implements Statements {

        /** From the SQL of the program, of which there are few texts. */
        private static final Map<String, String> TRANSLATED = new ConcurrentHashMap<>();

        @Override
        public Uni<Integer> update(String sql, @Nullable Object... parameters) {
            return session.flush().chain(() -> {
                Mutiny.MutationQuery query = session.createNativeQuery(translated(sql));
                for (int i = 0; i < parameters.length; i++) {
                    query.setParameter(i + 1, parameters[i]);
                }
                return query.executeUpdate();
            });
        }

        @Override
        public Uni<List<Object[]>> query(String sql, @Nullable Object... parameters) {
            Mutiny.SelectionQuery<Object[]> query = session.createNativeQuery(translated(sql), Object[].class);
            for (int i = 0; i < parameters.length; i++) {
                query.setParameter(i + 1, parameters[i]);
            }
            return query.getResultList();
        }

        private static String translated(String sql) {
            return TRANSLATED.computeIfAbsent(sql, text -> text.replaceAll("\\$(\\d)", "?$1"));
        }
    }

    /** Statements of a connection, which takes the SQL as it is. */
    record OfConnection(SqlConnection connection) implements Statements {

        @Override
        public Uni<Integer> update(String sql, @Nullable Object... parameters) {
            return connection.preparedQuery(sql).execute(tuple(parameters)).map(rows -> rows.rowCount());
        }

        @Override
        public Uni<List<Object[]>> query(String sql, @Nullable Object... parameters) {
            return connection.preparedQuery(sql).execute(tuple(parameters)).map(rows -> rows.stream()
                    .map(OfConnection::columns)
                    .toList());
        }

        private static Tuple tuple(@Nullable Object[] parameters) {
            return Tuple.from(Arrays.asList(parameters));
        }

        private static Object[] columns(Row row) {
            Object[] columns = new Object[row.size()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = row.getValue(i);
            }
            return columns;
        }
    }
}
