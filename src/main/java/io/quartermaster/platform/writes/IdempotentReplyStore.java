package io.quartermaster.platform.writes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
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
 * The replies stored under an {@code Idempotency-Key}: the first request with a key does the work and stores its reply in the same
 * transaction, a repeated one gets that reply, and the key with another request is refused (422). How rows are read and written, a
 * {@link Rows} says: {@link TenantWrites} does it as the request role, {@link OperatorWrites} as the system role.
 */
@ApplicationScoped
class IdempotentReplyStore {

    private static final TypeReference<Map<String, String>> HEADERS = new TypeReference<>() {};

    /** What older versions stored for a reply without a body. */
    private static final String JSON_NULL = "null";

    private final ObjectMapper json;

    IdempotentReplyStore(ObjectMapper json) {
        this.json = json;
    }

    /**
     * A key as it is stored: keys of different callers never meet.
     *
     * @param tenant whose realm the caller is of, or {@link OperatorWrites#OPERATOR}
     */
    record Key(String tenant, String caller, String key) {}

    /**
     * A row of {@code idempotency}.
     *
     * @param headers as JSON
     * @param body as JSON; null for a reply without one
     */
    record Stored(
            String fingerprint,
            int status,
            String headers,
            @Nullable String body) {}

    /** The rows of {@code idempotency} within one transaction. */
    interface Rows {
        /** False when the key is there already. A transaction that holds it is waited for. */
        Uni<Boolean> insert(Key key, String fingerprint);

        Uni<Stored> find(Key key);

        Uni<Void> update(Key key, Stored reply);
    }

    Uni<WriteReply> once(Rows rows, Key key, String fingerprint, Supplier<Uni<WriteReply>> work) {
        return rows.insert(key, fingerprint)
                .chain(isNew -> isNew
                        ? work.get().call(writeReply -> rows.update(key, stored(fingerprint, writeReply)))
                        : rows.find(key).map(stored -> reply(key, stored, fingerprint)));
    }

    private Stored stored(String fingerprint, WriteReply writeReply) {
        return new Stored(
                fingerprint,
                writeReply.status(),
                write(writeReply.headers()),
                writeReply.body() == null ? null : write(writeReply.body()));
    }

    private WriteReply reply(Key key, Stored stored, String fingerprint) {
        if (!fingerprint.equals(stored.fingerprint())) {
            throw ProblemException.of(
                    422,
                    "idempotency-key-reused",
                    "the Idempotency-Key \"" + key.key()
                            + "\" was used for another request: its method, path, query, If-Match or body differs. Send this request with a new key, or the other one unchanged");
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

    /** A reply as it is sent. A dry run has one kind of answer, which points at nothing that does not exist. */
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
