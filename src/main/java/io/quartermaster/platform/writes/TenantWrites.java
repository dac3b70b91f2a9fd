package io.quartermaster.platform.writes;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.Statements;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Runs every write of a tenant's rows through the API: one transaction holds the change, its inbox and audit rows, and
 * the stored answer of its {@code Idempotency-Key}. So the same key sent twice, even concurrently, does the work once:
 * the second request waits for the first transaction and gets its answer. The same key with another request is refused
 * (422).
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
     * @param subject the caller: equal keys of different callers are different keys
     * @param request the deserialised body, or null; with method, path and query it identifies the request that a
     * repeated key must repeat
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
                        session -> replies.runOnce(
                                Statements.of(session),
                                new IdempotentReplyStore.Key(tenant.value(), subject, key),
                                params.fingerprint(uri, replies.write(request)),
                                () -> work.apply(session)));
        return writeReply
                .invoke(done -> {
                    if (params.mode() == WriteMode.COMMIT) {
                        wakeups.requestLeaderWakeup();
                    }
                })
                .map(done -> replies.response(params.mode(), done));
    }

    /**
     * As {@link #run}, for a write that also calls another system, which must never happen inside a transaction:
     * {@code before} makes that call first. {@code before} must be idempotent: it runs again when the transaction fails
     * and the request is repeated. A repeated key whose answer is stored gets that answer, and {@code before} does not
     * run.
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
                : transactions.in(
                        tenant,
                        session -> replies.isAnswered(
                                Statements.of(session), new IdempotentReplyStore.Key(tenant.value(), subject, key)));
        return answered.chain(known -> known
                ? run(tenant, subject, uri, params, request, session -> Uni.createFrom()
                        .failure(new IllegalStateException("a stored answer has disappeared")))
                : before.get()
                        .chain(outcome ->
                                run(tenant, subject, uri, params, request, session -> work.apply(session, outcome))));
    }

    /**
     * The row of {@code idempotency} that a write with a key stores in its transaction; empty for a write without one.
     * For a write whose transaction is not made by {@link #run}. That transaction must insert the row with its changes,
     * or change nothing if the key has a row already; {@link #run} then returns the stored answer.
     *
     * @param status of the answer
     * @param headers of the answer, as JSON
     * @param body of the answer, as JSON
     */
    public record KeyedAnswer(
            String key,
            String fingerprint,
            int status,
            String headers,
            @Nullable String body) {}

    /** The row for this answer; see {@link KeyedAnswer}. */
    public Optional<KeyedAnswer> keyed(UriInfo uri, WriteParams params, @Nullable Object request, WriteReply answer) {
        return params.key().map(key -> {
            IdempotentReplyStore.StoredReply stored =
                    replies.toStoredReply(params.fingerprint(uri, replies.write(request)), answer);
            return new KeyedAnswer(key, stored.fingerprint(), stored.status(), stored.headers(), stored.body());
        });
    }

    /** The answer to a write that was committed without {@link #run}; wakes the leader for its inbox rows. */
    public Response committed(WriteReply answer) {
        wakeups.requestLeaderWakeup();
        return replies.response(WriteMode.COMMIT, answer);
    }

    /** The answer to a read, with its ETag. */
    public static Response response(WriteReply writeReply) {
        return IdempotentReplyStore.response(writeReply);
    }
}
