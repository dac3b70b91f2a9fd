package io.quartermaster.platform.writes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.db.Statements;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The replies stored under an {@code Idempotency-Key}. The first request with a key does the work and stores its reply
 * in the same transaction. A repeated request gets that reply; another request with the key is refused (422).
 * {@link TenantWrites} reads and writes the rows as the request role, {@link OperatorWrites} as the system role.
 */
@ApplicationScoped
class IdempotentReplyStore {

    private static final TypeReference<Map<String, String>> HEADERS = new TypeReference<>() {};

    /** The value that older versions stored for a reply without a body. */
    private static final String JSON_NULL = "null";

    private final ObjectMapper json;

    IdempotentReplyStore(ObjectMapper json) {
        this.json = json;
    }

    /**
     * A key as it is stored; equal keys of different callers are different keys.
     *
     * @param tenant the tenant whose realm the caller belongs to, or {@link OperatorWrites#OPERATOR}
     */
    record Key(String tenant, String caller, String key) {}

    /**
     * A row of {@code idempotency}.
     *
     * @param headers as JSON
     * @param body as JSON; null for a reply without one
     */
    record StoredReply(
            String fingerprint,
            int status,
            String headers,
            @Nullable String body) {}

    /**
     * Does the work and stores its reply, or returns the stored reply if the key has one. Waits for a concurrent
     * transaction that holds the key.
     */
    Uni<WriteReply> runOnce(Statements statements, Key key, String fingerprint, Supplier<Uni<WriteReply>> work) {
        return insert(statements, key, fingerprint)
                .chain(isNew -> isNew
                        ? work.get().call(writeReply -> update(statements, key, toStoredReply(fingerprint, writeReply)))
                        : find(statements, key).map(stored -> reply(key, stored, fingerprint)));
    }

    /** Whether the key has a stored reply. */
    Uni<Boolean> isAnswered(Statements statements, Key key) {
        return statements
                .query(
                        "select 1 from idempotency where tenant_id = $1 and caller = $2 and key = $3",
                        key.tenant(),
                        key.caller(),
                        key.key())
                .map(rows -> !rows.isEmpty());
    }

    private static Uni<Boolean> insert(Statements statements, Key key, String fingerprint) {
        return statements
                .update(
                        "insert into idempotency (tenant_id, caller, key, fingerprint) values ($1, $2, $3, $4) "
                                + "on conflict do nothing",
                        key.tenant(),
                        key.caller(),
                        key.key(),
                        fingerprint)
                .map(inserted -> inserted == 1);
    }

    private static Uni<StoredReply> find(Statements statements, Key key) {
        return statements
                .query(
                        "select fingerprint, status, cast(headers as text), body from idempotency where "
                                + "tenant_id = $1 and caller = $2 and key = $3",
                        key.tenant(),
                        key.caller(),
                        key.key())
                .map(rows -> {
                    Object[] row = rows.getFirst();
                    return new StoredReply(
                            (String) row[0], ((Number) row[1]).intValue(), (String) row[2], (String) row[3]);
                });
    }

    private static Uni<Integer> update(Statements statements, Key key, StoredReply reply) {
        return statements.update(
                "update idempotency set status = $4, headers = cast(cast($5 as text) as jsonb), "
                        + "body = cast($6 as text) where tenant_id = $1 and caller = $2 and key = $3",
                key.tenant(),
                key.caller(),
                key.key(),
                reply.status(),
                reply.headers(),
                reply.body());
    }

    StoredReply toStoredReply(String fingerprint, WriteReply writeReply) {
        return new StoredReply(
                fingerprint,
                writeReply.status(),
                write(writeReply.headers()),
                writeReply.body() == null ? null : write(writeReply.body()));
    }

    private WriteReply reply(Key key, StoredReply stored, String fingerprint) {
        if (!fingerprint.equals(stored.fingerprint())) {
            throw ProblemException.of(
                    422,
                    "idempotency-key-reused",
                    "the Idempotency-Key \"" + key.key()
                            + "\" was used for another request: its method, path, query, If-Match or body "
                            + "differs. Send this request with a new key, or the other one unchanged");
        }
        String body = stored.body();
        try {
            return new WriteReply(
                    stored.status(),
                    body == null || body.equals(JSON_NULL) ? null : json.readTree(body),
                    json.readValue(stored.headers(), HEADERS));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a stored reply cannot be read", e);
        }
    }

    /** A request's body as JSON, for its fingerprint. */
    String write(@Nullable Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a request or reply cannot be written as JSON", e);
        }
    }

    /** A reply as it is sent. A dry run's answer has no header that refers to a resource which does not exist. */
    Response response(WriteMode mode, WriteReply writeReply) {
        return switch (mode) {
            case COMMIT -> response(writeReply);
            case DRY_RUN -> response(new WriteReply(200, DryRun.of(writeReply, json), Map.of()));
        };
    }

    static Response response(WriteReply writeReply) {
        Response.ResponseBuilder builder = Response.status(writeReply.status());
        writeReply.headers().forEach(builder::header);
        return writeReply.body() == null
                ? builder.build()
                : builder.type(MediaType.APPLICATION_JSON_TYPE)
                        .entity(writeReply.body())
                        .build();
    }
}
