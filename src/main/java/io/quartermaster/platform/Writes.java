package io.quartermaster.platform;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.Map;
import java.util.function.Function;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Every write of a tenant's rows through the API: one transaction that holds the change, its inbox and audit rows, and the stored answer
 * of its {@code Idempotency-Key}. So the same key sent twice, even side by side, does the work once: the second waits for the first
 * transaction and gets its answer. The same key with another request is refused (422).
 */
@ApplicationScoped
public class Writes {

    private static final TypeReference<Map<String, String>> HEADERS = new TypeReference<>() {};

    private final TenantTransactions transactions;
    private final Wakeups wakeups;
    private final ObjectMapper json;

    Writes(TenantTransactions transactions, Wakeups wakeups, ObjectMapper json) {
        this.transactions = transactions;
        this.wakeups = wakeups;
        this.json = json;
    }

    /**
     * @param subject who calls: keys of different callers never meet
     * @param request the deserialised body, or null; with method, path and query it tells whether a repeated key repeats the same request
     */
    public Uni<Response> run(
            TenantId tenant,
            String subject,
            UriInfo uri,
            WriteParams params,
            @Nullable Object request,
            Function<Mutiny.Session, Uni<Reply>> work) {
        String key = params.key().orElse(null);
        Uni<Reply> reply = key == null
                ? transactions.in(tenant, params.mode(), work)
                : transactions.in(
                        tenant,
                        params.mode(),
                        session -> once(session, tenant, subject, key, params.fingerprint(uri, write(request)), work));
        return reply.invoke(done -> {
                    if (params.mode() == WriteMode.COMMIT) {
                        wakeups.leader();
                    }
                })
                .map(Writes::response);
    }

    private Uni<Reply> once(
            Mutiny.Session session,
            TenantId tenant,
            String subject,
            String key,
            String fingerprint,
            Function<Mutiny.Session, Uni<Reply>> work) {
        return session.createNativeQuery(
                        "insert into idempotency (tenant_id, caller, key, fingerprint) values (:tenant, :caller, :key, :fingerprint) on conflict do nothing")
                .setParameter("tenant", tenant.value())
                .setParameter("caller", subject)
                .setParameter("key", key)
                .setParameter("fingerprint", fingerprint)
                .executeUpdate()
                .chain(inserted -> inserted == 0
                        ? replay(session, tenant, subject, key, fingerprint)
                        : work.apply(session).call(done -> keep(session, tenant, subject, key, done)));
    }

    private Uni<Reply> replay(Mutiny.Session session, TenantId tenant, String subject, String key, String fingerprint) {
        return session.createNativeQuery(
                        "select fingerprint, status, cast(headers as text), body from idempotency where tenant_id = :tenant and caller = :caller and key = :key",
                        Object[].class)
                .setParameter("tenant", tenant.value())
                .setParameter("caller", subject)
                .setParameter("key", key)
                .getSingleResult()
                .map(row -> {
                    if (!fingerprint.equals(row[0])) {
                        throw ProblemException.of(
                                422, "idempotency-key-reused", "this Idempotency-Key was used for another request");
                    }
                    return new Reply(((Number) row[1]).intValue(), read(row[3]), headers((String) row[2]));
                });
    }

    private Uni<Integer> keep(Mutiny.Session session, TenantId tenant, String subject, String key, Reply reply) {
        return session.flush().chain(() -> session.createNativeQuery(
                        "update idempotency set status = :status, headers = cast(cast(:headers as text) as jsonb), body = :body where tenant_id = :tenant and caller = :caller and key = :key")
                .setParameter("status", reply.status())
                .setParameter("headers", write(reply.headers()))
                .setParameter("body", write(reply.body()))
                .setParameter("tenant", tenant.value())
                .setParameter("caller", subject)
                .setParameter("key", key)
                .executeUpdate());
    }

    private Map<String, String> headers(String text) {
        try {
            return json.readValue(text, HEADERS);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a kept answer cannot be read", e);
        }
    }

    private @Nullable Object read(@Nullable Object text) {
        try {
            return text == null ? null : json.readTree((String) text);
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

    /** Also used by writes of the operator's own things, which run as the system role. */
    public static Response response(Reply reply) {
        Response.ResponseBuilder builder = Response.status(reply.status());
        reply.headers().forEach(builder::header);
        return reply.body() == null
                ? builder.build()
                : builder.type(MediaType.APPLICATION_JSON_TYPE)
                        .entity(reply.body())
                        .build();
    }
}
