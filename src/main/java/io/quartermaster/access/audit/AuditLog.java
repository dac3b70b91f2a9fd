package io.quartermaster.access.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.Realm;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.Statements;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Records changes and their actors. An entry commits together with the change that it records. The sealer adds it to
 * its tenant's hash chain afterwards, so that requests do not queue for the chain.
 */
@ApplicationScoped
public class AuditLog {

    /** The name under which entries about clusters, nodes and pools, which belong to no tenant, are stored. */
    public static final TenantId OPERATOR = new TenantId(Realm.OPERATOR_NAME);

    /**
     * One change.
     *
     * @param action {@code resource:verb}, such as {@code policies:create}
     * @param resource path of the resource, such as {@code policies/research}
     * @param before null for a new resource; both are written as JSON objects, without secrets
     * @param after null for a deleted resource
     */
    public record Change(
            String action,
            String resource,
            @Nullable Object before,
            @Nullable Object after) {}

    private final ObjectMapper json;

    AuditLog(ObjectMapper json) {
        this.json = json;
    }

    /** Records in a transaction of the request role, which must be the one for {@code tenant}. */
    public Uni<Void> record(Mutiny.Session session, TenantId tenant, Caller caller, Change change) {
        return record(Statements.of(session), tenant, caller, change);
    }

    /** Records in a transaction of the system role; {@link #OPERATOR} stands for resources of no tenant. */
    public Uni<Void> record(SqlConnection connection, TenantId tenant, Caller caller, Change change) {
        return record(Statements.of(connection), tenant, caller, change);
    }

    private Uni<Void> record(Statements statements, TenantId tenant, Caller caller, Change change) {
        return statements
                .update(
                        "insert into audit_entry (tenant_id, id, actor, actor_realm, action, resource, before, "
                                + "after, request_id) values ($1, $2, $3, $4, $5, $6, "
                                + "cast(cast($7 as text) as jsonb), cast(cast($8 as text) as jsonb), $9)",
                        tenant.value(),
                        Ids.next(),
                        caller.username(),
                        caller.realm().word(),
                        change.action(),
                        change.resource(),
                        text(change.before()),
                        text(change.after()),
                        caller.requestId())
                .replaceWithVoid();
    }

    private @Nullable String text(@Nullable Object value) {
        try {
            return value == null ? null : json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an audit entry cannot be written as JSON", e);
        }
    }
}
