package io.quartermaster.platform;

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
        return sessions.withTransaction((session, transaction) -> {
            if (mode == WriteMode.DRY_RUN) {
                transaction.markForRollback();
            }
            return session.createNativeQuery("select set_config('app.tenant', :tenant, true)", String.class)
                    .setParameter("tenant", tenant.value())
                    .getSingleResult()
                    .chain(() -> work.apply(session))
                    .call(session::flush);
        });
    }
}
