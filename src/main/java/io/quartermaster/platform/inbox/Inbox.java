package io.quartermaster.platform.inbox;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.List;
import java.util.Locale;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Tells the leader of the cell what changed. The row is written in the transaction of the change and only names the thing; call
 * {@link Wakeups#leader()} after the commit.
 */
public final class Inbox {

    /** What changed. */
    public enum Kind {
        TENANT,
        POOL,
        NODE,
        ALLOTMENT,
        POLICY,
        QUEUE,
        PROFILE,
        WORKLOAD,
        REPORT;

        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private Inbox() {}

    public static Uni<Void> post(Mutiny.Session session, TenantId tenant, Kind kind, String ref) {
        return session.createNativeQuery("insert into inbox (tenant_id, kind, ref) values (:tenant, :kind, :ref)")
                .setParameter("tenant", tenant.value())
                .setParameter("kind", kind.word())
                .setParameter("ref", ref)
                .executeUpdate()
                .replaceWithVoid();
    }

    /** As the system role; {@code tenant} is null for what is no tenant's (a pool, a node). */
    public static Uni<Void> post(SqlConnection connection, @Nullable TenantId tenant, Kind kind, List<String> refs) {
        return connection
                .preparedQuery("insert into inbox (tenant_id, kind, ref) select $1, $2, unnest($3::text[])")
                .execute(Tuple.of(tenant == null ? null : tenant.value(), kind.word(), refs.toArray(String[]::new)))
                .replaceWithVoid();
    }
}
