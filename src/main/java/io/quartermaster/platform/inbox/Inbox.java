package io.quartermaster.platform.inbox;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.Statements;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import java.util.Locale;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Informs the leader of the cell about changes. The row is written in the transaction of the change and only names what
 * changed; call {@link Wakeups#requestLeaderWakeup()} after the commit.
 */
public final class Inbox {

    /** The kind of object that changed. */
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

    /** Posts as the request role, in the session of the change. */
    public static Uni<Void> post(Mutiny.Session session, TenantId tenant, Kind kind, String ref) {
        return post(Statements.of(session), tenant, kind, ref);
    }

    /** Posts as the system role; {@code tenant} is null for objects of no tenant (a pool, a node). */
    public static Uni<Void> post(SqlConnection connection, @Nullable TenantId tenant, Kind kind, String ref) {
        return post(Statements.of(connection), tenant, kind, ref);
    }

    private static Uni<Void> post(Statements statements, @Nullable TenantId tenant, Kind kind, String ref) {
        return statements
                .update(
                        "insert into inbox (tenant_id, kind, ref) values ($1, $2, $3)",
                        tenant == null ? null : tenant.value(),
                        kind.word(),
                        ref)
                .replaceWithVoid();
    }
}
