package io.quartermaster.platform;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@link Writes} for what belongs to no tenant (clusters, pools, nodes, tenants themselves): the same promise, kept as the system role.
 * Keys are kept under the operator's realm, which is no tenant's.
 */
@ApplicationScoped
public class OperatorWrites {

    /** Stands in the {@code tenant_id} of rows that are the operator's own. */
    public static final String OPERATOR = "operator";

    private static final TypeReference<Map<String, String>> HEADERS = new TypeReference<>() {};

    private final SystemDatabase database;
    private final Wakeups wakeups;
    private final ObjectMapper json;

    OperatorWrites(SystemDatabase database, Wakeups wakeups, ObjectMapper json) {
        this.database = database;
        this.wakeups = wakeups;
        this.json = json;
    }

    /** See {@link Writes#run}. */
    public Uni<Response> run(
            String subject,
            UriInfo uri,
            WriteParams params,
            @Nullable Object request,
            Function<SqlConnection, Uni<Reply>> work) {
        String key = params.key().orElse(null);
        Uni<Reply> reply = database.in(
                params.mode(),
                connection -> key == null
                        ? work.apply(connection)
                        : once(connection, subject, key, params.fingerprint(uri, write(request)), work));
        return reply.invoke(done -> {
                    if (params.mode() == WriteMode.COMMIT) {
                        wakeups.leader();
                    }
                })
                .map(Writes::response);
    }

    private Uni<Reply> once(
            SqlConnection connection,
            String subject,
            String key,
            String fingerprint,
            Function<SqlConnection, Uni<Reply>> work) {
        return connection
                .preparedQuery(
                        "insert into idempotency (tenant_id, caller, key, fingerprint) values ($1, $2, $3, $4) on conflict do nothing")
                .execute(Tuple.of(OPERATOR, subject, key, fingerprint))
                .chain(inserted -> inserted.rowCount() == 0
                        ? replay(connection, subject, key, fingerprint)
                        : work.apply(connection).call(done -> keep(connection, subject, key, done)));
    }

    private Uni<Reply> replay(SqlConnection connection, String subject, String key, String fingerprint) {
        return connection
                .preparedQuery(
                        "select fingerprint, status, headers::text, body from idempotency where tenant_id = $1 and caller = $2 and key = $3")
                .execute(Tuple.of(OPERATOR, subject, key))
                .map(rows -> {
                    Row row = rows.iterator().next();
                    if (!fingerprint.equals(row.getString(0))) {
                        throw ProblemException.of(
                                422, "idempotency-key-reused", "this Idempotency-Key was used for another request");
                    }
                    return new Reply(row.getInteger(1), body(row.getString(3)), headers(row.getString(2)));
                });
    }

    private Uni<Void> keep(SqlConnection connection, String subject, String key, Reply reply) {
        return connection
                .preparedQuery(
                        "update idempotency set status = $4, headers = $5::text::jsonb, body = $6 where tenant_id = $1 and caller = $2 and key = $3")
                .execute(Tuple.from(new Object[] {
                    OPERATOR, subject, key, reply.status(), write(reply.headers()), write(reply.body())
                }))
                .replaceWithVoid();
    }

    private Map<String, String> headers(String text) {
        try {
            return json.readValue(text, HEADERS);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a kept answer cannot be read", e);
        }
    }

    private @Nullable Object body(@Nullable String text) {
        try {
            return text == null || text.equals("null") ? null : json.readTree(text);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a kept answer cannot be read", e);
        }
    }

    private String write(@Nullable Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a request or answer cannot be written as JSON", e);
        }
    }
}
