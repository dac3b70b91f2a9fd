package io.quartermaster.platform.writes;

import io.quartermaster.platform.db.Statements;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * {@link TenantWrites} for objects that belong to no tenant (clusters, pools, nodes, tenants themselves), with the same
 * guarantees, as the system role. Keys are stored under the operator's realm, which is no tenant's.
 */
@ApplicationScoped
public class OperatorWrites {

    /** The value of {@code tenant_id} in rows that are the operator's own. */
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
                        : replies.runOnce(
                                Statements.of(connection),
                                new IdempotentReplyStore.Key(OPERATOR, subject, key),
                                params.fingerprint(uri, replies.write(request)),
                                () -> work.apply(connection)));
        return writeReply
                .invoke(done -> {
                    if (params.mode() == WriteMode.COMMIT) {
                        wakeups.requestLeaderWakeup();
                    }
                })
                .map(done -> replies.response(params.mode(), done));
    }

    /** The answer to a write that is not stored under its key, because it holds a secret. */
    public Response unstored(WriteMode mode, WriteReply writeReply) {
        return switch (mode) {
            case COMMIT ->
                Response.fromResponse(replies.response(mode, writeReply))
                        .header("Cache-Control", "no-store")
                        .build();
            case DRY_RUN -> replies.response(mode, writeReply);
        };
    }
}
