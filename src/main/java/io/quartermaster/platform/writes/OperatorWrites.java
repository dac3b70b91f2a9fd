package io.quartermaster.platform.writes;

import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@link TenantWrites} for what belongs to no tenant (clusters, pools, nodes, tenants themselves): the same promise, kept as the system role.
 * Keys are kept under the operator's realm, which is no tenant's.
 */
@ApplicationScoped
public class OperatorWrites {

    /** Stands in the {@code tenant_id} of rows that are the operator's own. */
    public static final String OPERATOR = "operator";

    private final SystemDatabase database;
    private final Wakeups wakeups;
    private final IdempotentReplyStore replies;

    OperatorWrites(SystemDatabase database, Wakeups wakeups, IdempotentReplyStore replies) {
        this.database = database;
        this.wakeups = wakeups;
        this.replies = replies;
    }

    /** See {@link TenantWrites#run}. */
    public Uni<Response> run(
            String subject,
            UriInfo uri,
            WriteParams params,
            @Nullable Object request,
            Function<SqlConnection, Uni<WriteReply>> work) {
        String key = params.key().orElse(null);
        Uni<WriteReply> writeReply = database.in(
                params.mode(),
                connection -> key == null
                        ? work.apply(connection)
                        : replies.once(
                                new ConnectionRows(connection),
                                new IdempotentReplyStore.Key(OPERATOR, subject, key),
                                params.fingerprint(uri, replies.write(request)),
                                () -> work.apply(connection)));
        return writeReply
                .invoke(done -> {
                    if (params.mode() == WriteMode.COMMIT) {
                        wakeups.leader();
                    }
                })
                .map(done -> replies.response(params.mode(), done));
    }

    /** The answer to a write that is not stored for a repeated key, because it holds a secret. */
    public Response unstored(WriteMode mode, WriteReply writeReply) {
        return switch (mode) {
            case COMMIT ->
                Response.fromResponse(replies.response(mode, writeReply))
                        .header("Cache-Control", "no-store")
                        .build();
            case DRY_RUN -> replies.response(mode, writeReply);
        };
    }

    /** As the system role, on the connection of the write. */
    private record ConnectionRows(SqlConnection connection) implements IdempotentReplyStore.Rows {

        @Override
        public Uni<Boolean> insert(IdempotentReplyStore.Key key, String fingerprint) {
            return connection
                    .preparedQuery(
                            "insert into idempotency (tenant_id, caller, key, fingerprint) values ($1, $2, $3, $4) on conflict do nothing")
                    .execute(Tuple.of(key.tenant(), key.caller(), key.key(), fingerprint))
                    .map(inserted -> inserted.rowCount() == 1);
        }

        @Override
        public Uni<IdempotentReplyStore.Stored> find(IdempotentReplyStore.Key key) {
            return connection
                    .preparedQuery(
                            "select fingerprint, status, headers::text, body from idempotency where tenant_id = $1 and caller = $2 and key = $3")
                    .execute(Tuple.of(key.tenant(), key.caller(), key.key()))
                    .map(rows -> {
                        Row row = rows.iterator().next();
                        return new IdempotentReplyStore.Stored(
                                row.getString(0), row.getInteger(1), row.getString(2), row.getString(3));
                    });
        }

        @Override
        public Uni<Void> update(IdempotentReplyStore.Key key, IdempotentReplyStore.Stored reply) {
            return connection
                    .preparedQuery(
                            "update idempotency set status = $4, headers = $5::text::jsonb, body = $6 where tenant_id = $1 and caller = $2 and key = $3")
                    .execute(Tuple.from(new Object[] {
                        key.tenant(), key.caller(), key.key(), reply.status(), reply.headers(), reply.body()
                    }))
                    .replaceWithVoid();
        }
    }
}
