package io.quartermaster.access.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.access.Realm;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Writes who changed what. An entry commits together with the change it tells of; it is sealed into its tenant's hash chain afterwards,
 * by the sealer, so that requests do not queue for the chain.
 */
@ApplicationScoped
public class AuditLog {

    /** Under this name lie the entries of what is no tenant's: clusters, nodes, pools. */
    public static final TenantId OPERATOR = new TenantId(Realm.OPERATOR_NAME);

    /**
     * One change.
     *
     * @param action {@code resource:verb}, such as {@code policies:create}
     * @param resource path of the thing, such as {@code policies/research}
     * @param before null for what is new; both are written as JSON objects, without secrets
     * @param after null for what is gone
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

    /** In a transaction of the request role, which must be the one for {@code tenant}. */
    public Uni<Void> record(Mutiny.Session session, TenantId tenant, Caller caller, Change change) {
        return session.createNativeQuery(
                        "insert into audit_entry (tenant_id, id, actor, actor_realm, action, resource, before, after, request_id) values (:tenant, :id, :actor, :realm, :action, :resource, cast(cast(:before as text) as jsonb), cast(cast(:after as text) as jsonb), :request)")
                .setParameter("tenant", tenant.value())
                .setParameter("id", Ids.next())
                .setParameter("actor", caller.username())
                .setParameter("realm", caller.realm().word())
                .setParameter("action", change.action())
                .setParameter("resource", change.resource())
                .setParameter("before", text(change.before()))
                .setParameter("after", text(change.after()))
                .setParameter("request", caller.requestId())
                .executeUpdate()
                .replaceWithVoid();
    }

    /** In a transaction of the system role; {@link #OPERATOR} for what is no tenant's. */
    public Uni<Void> record(SqlConnection connection, TenantId tenant, Caller caller, Change change) {
        return connection
                .preparedQuery(
                        "insert into audit_entry (tenant_id, id, actor, actor_realm, action, resource, before, after, request_id) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)")
                .execute(Tuple.tuple()
                        .addString(tenant.value())
                        .addUUID(Ids.next())
                        .addString(caller.username())
                        .addString(caller.realm().word())
                        .addString(change.action())
                        .addString(change.resource())
                        .addValue(object(change.before()))
                        .addValue(object(change.after()))
                        .addString(caller.requestId()))
                .replaceWithVoid();
    }

    private @Nullable JsonObject object(@Nullable Object value) {
        String text = text(value);
        return text == null ? null : new JsonObject(text);
    }

    private @Nullable String text(@Nullable Object value) {
        try {
            return value == null ? null : json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an audit entry cannot be written as JSON", e);
        }
    }
}
