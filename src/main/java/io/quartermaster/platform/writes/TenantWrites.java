package io.quartermaster.platform.writes;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Every write of a tenant's rows through the API: one transaction that holds the change, its inbox and audit rows, and the stored answer
 * of its {@code Idempotency-Key}. So the same key sent twice, even side by side, does the work once: the second waits for the first
 * transaction and gets its answer. The same key with another request is refused (422).
 */
@ApplicationScoped
public class TenantWrites {

    private final TenantTransactions transactions;
    private final Wakeups wakeups;
    private final IdempotentReplyStore replies;

    TenantWrites(TenantTransactions transactions, Wakeups wakeups, IdempotentReplyStore replies) {
        this.transactions = transactions;
        this.wakeups = wakeups;
        this.replies = replies;
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
            Function<Mutiny.Session, Uni<WriteReply>> work) {
        String key = params.key().orElse(null);
        Uni<WriteReply> writeReply = key == null
                ? transactions.in(tenant, params.mode(), work)
                : transactions.in(
                        tenant,
                        params.mode(),
                        session -> replies.once(
                                new SessionRows(session),
                                new IdempotentReplyStore.Key(tenant.value(), subject, key),
                                params.fingerprint(uri, replies.write(request)),
                                () -> work.apply(session)));
        return writeReply
                .invoke(done -> {
                    if (params.mode() == WriteMode.COMMIT) {
                        wakeups.leader();
                    }
                })
                .map(done -> replies.response(params.mode(), done));
    }

    /**
     * As {@link #run}, for a write that another system takes part in, which is never called inside a transaction: {@code before} does its
     * work there first. It must be idempotent: it runs again when the transaction fails and the request is repeated. A repeated key whose
     * answer is stored gets that answer, and {@code before} does not run.
     */
    public <T> Uni<Response> runAfter(
            Supplier<Uni<T>> before,
            TenantId tenant,
            String subject,
            UriInfo uri,
            WriteParams params,
            @Nullable Object request,
            BiFunction<Mutiny.Session, T, Uni<WriteReply>> work) {
        String key = params.key().orElse(null);
        Uni<Boolean> answered = key == null
                ? Uni.createFrom().item(false)
                : transactions.in(tenant, session -> isAnswered(session, tenant, subject, key));
        return answered.chain(known -> known
                ? run(tenant, subject, uri, params, request, session -> Uni.createFrom()
                        .failure(new IllegalStateException("a stored answer has gone")))
                : before.get()
                        .chain(outcome ->
                                run(tenant, subject, uri, params, request, session -> work.apply(session, outcome))));
    }

    private static Uni<Boolean> isAnswered(Mutiny.Session session, TenantId tenant, String subject, String key) {
        return session.createNativeQuery(
                        "select count(*) from idempotency where tenant_id = :tenant and caller = :caller and key = :key",
                        Long.class)
                .setParameter("tenant", tenant.value())
                .setParameter("caller", subject)
                .setParameter("key", key)
                .getSingleResult()
                .map(rows -> rows > 0);
    }

    /** As the request role, in the session of the write. */
    private record SessionRows(Mutiny.Session session) implements IdempotentReplyStore.Rows {

        @Override
        public Uni<Boolean> insert(IdempotentReplyStore.Key key, String fingerprint) {
            return at(
                            session.createNativeQuery(
                                    "insert into idempotency (tenant_id, caller, key, fingerprint) values (:tenant, :caller, :key, :fingerprint) on conflict do nothing"),
                            key)
                    .setParameter("fingerprint", fingerprint)
                    .executeUpdate()
                    .map(inserted -> inserted == 1);
        }

        @Override
        public Uni<IdempotentReplyStore.Stored> find(IdempotentReplyStore.Key key) {
            return session.createNativeQuery(
                            "select fingerprint, status, cast(headers as text), body from idempotency where tenant_id = :tenant and caller = :caller and key = :key",
                            Object[].class)
                    .setParameter("tenant", key.tenant())
                    .setParameter("caller", key.caller())
                    .setParameter("key", key.key())
                    .getSingleResult()
                    .map(row -> new IdempotentReplyStore.Stored(
                            (String) row[0], ((Number) row[1]).intValue(), (String) row[2], (String) row[3]));
        }

        @Override
        public Uni<Void> update(IdempotentReplyStore.Key key, IdempotentReplyStore.Stored reply) {
            return session.flush()
                    .chain(() -> at(
                                    session.createNativeQuery(
                                            "update idempotency set status = :status, headers = cast(cast(:headers as text) as jsonb), body = cast(:body as text) where tenant_id = :tenant and caller = :caller and key = :key"),
                                    key)
                            .setParameter("status", reply.status())
                            .setParameter("headers", reply.headers())
                            .setParameter("body", reply.body())
                            .executeUpdate())
                    .replaceWithVoid();
        }

        private static Mutiny.MutationQuery at(Mutiny.MutationQuery query, IdempotentReplyStore.Key key) {
            return query.setParameter("tenant", key.tenant())
                    .setParameter("caller", key.caller())
                    .setParameter("key", key.key());
        }
    }

    /** What was read, with its ETag. */
    public static Response response(WriteReply writeReply) {
        return IdempotentReplyStore.response(writeReply);
    }
}
