package io.quartermaster.platform.db;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Future;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.function.Function;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * Access to PostgreSQL as the request role: one tenant, one transaction, row-level security by {@code app.tenant}. The
 * setting holds for this transaction only, so that a pooled connection cannot pass it to the next. Without it, the
 * request role sees no rows of any tenant.
 *
 * <p>A session is one connection: its calls run one after the other, never concurrently.
 */
@ApplicationScoped
public class TenantTransactions {

    private final Mutiny.SessionFactory sessions;
    private final io.vertx.sqlclient.Pool connections;

    TenantTransactions(Mutiny.SessionFactory sessions, Pool connections) {
        this.sessions = sessions;
        this.connections = connections.getDelegate();
    }

    /**
     * Calls a function of the schema, in a transaction of its own and in one round trip. The function sets
     * {@code app.tenant} to its first argument before it touches a row, so row-level security applies as in
     * {@link #in}. The answer arrives on the Vert.x context of the caller.
     *
     * <p>A failure with an SQLSTATE means that the transaction was rolled back. After any other failure, it may have
     * been committed.
     *
     * @param sql a query of the function alone, whose first parameter is the tenant
     * @param others the values of the other parameters
     */
    public Future<RowSet<Row>> call(TenantId tenant, String sql, Object... others) {
        Tuple arguments = Tuple.tuple().addString(tenant.value());
        for (Object other : others) {
            arguments.addValue(other);
        }
        return connections.preparedQuery(sql).execute(arguments);
    }

    public <T> Uni<T> in(TenantId tenant, Function<Mutiny.Session, Uni<T>> work) {
        return in(tenant, WriteMode.COMMIT, work);
    }

    /**
     * Runs the work in one transaction and flushes its writes inside it, so that a refusal of the database rolls it
     * back.
     */
    public <T> Uni<T> in(TenantId tenant, WriteMode mode, Function<Mutiny.Session, Uni<T>> work) {
        return shieldFromCancellation(sessions.withTransaction((session, transaction) -> {
            if (mode == WriteMode.DRY_RUN) {
                transaction.markForRollback();
            }
            // As an update, not as a query: Hibernate Reactive (3.2) caches one more plan for every native query,
            // because the keys of such plans never compare equal. Searching them in each transaction costs more than
            // the statement.
            return session.createNativeQuery("select set_config('app.tenant', :tenant, true)")
                    .setParameter("tenant", tenant.value())
                    .executeUpdate()
                    .chain(() -> OpenTransactions.during(() -> work.apply(session)))
                    .call(session::flush);
        }));
    }

    /**
     * Continues when the subscriber cancels, as the reader of a live view does. Otherwise Hibernate Reactive would
     * close the session during a statement, and return a connection whose transaction is still open.
     */
    private static <T> Uni<T> shieldFromCancellation(Uni<T> work) {
        return Uni.createFrom().emitter(asker -> work.subscribe().with(asker::complete, asker::fail));
    }
}
