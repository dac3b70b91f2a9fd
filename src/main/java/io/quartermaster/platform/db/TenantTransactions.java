package io.quartermaster.platform.db;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.function.Function;
import org.hibernate.reactive.mutiny.Mutiny;

/**
 * The door to PostgreSQL as the request role: one tenant, one transaction, row-level security by {@code app.tenant}, which is set for
 * just this transaction so that a pooled connection cannot carry it on. Nothing outside sees rows of any tenant.
 *
 * <p>A session is one connection: its calls are made one after the other, never side by side.
 */
@ApplicationScoped
public class TenantTransactions {

    private final Mutiny.SessionFactory sessions;

    TenantTransactions(Mutiny.SessionFactory sessions) {
        this.sessions = sessions;
    }

    public <T> Uni<T> in(TenantId tenant, Function<Mutiny.Session, Uni<T>> work) {
        return in(tenant, WriteMode.COMMIT, work);
    }

    /** What the work wrote is flushed inside the transaction, so that a refusal of the database ends it. */
    public <T> Uni<T> in(TenantId tenant, WriteMode mode, Function<Mutiny.Session, Uni<T>> work) {
        return shieldFromCancellation(sessions.withTransaction((session, transaction) -> {
            if (mode == WriteMode.DRY_RUN) {
                transaction.markForRollback();
            }
            // As an update, not as a query: Hibernate Reactive (3.2) keeps one more plan for every native query, its
            // key for such a plan
            // equals no other, and in each transaction looking among them costs more than the statement.
            return session.createNativeQuery("select set_config('app.tenant', :tenant, true)")
                    .setParameter("tenant", tenant.value())
                    .executeUpdate()
                    .chain(() -> OpenTransactions.during(() -> work.apply(session)))
                    .call(session::flush);
        }));
    }

    /**
     * Goes on when whoever asked has gone, as the reader of a live view does: Hibernate Reactive would close the session under a statement that
     * is under way, and give back a connection whose transaction is not over.
     */
    private static <T> Uni<T> shieldFromCancellation(Uni<T> work) {
        return Uni.createFrom().emitter(asker -> work.subscribe().with(asker::complete, asker::fail));
    }
}
