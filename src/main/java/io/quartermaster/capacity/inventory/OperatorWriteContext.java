package io.quartermaster.capacity.inventory;

import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.writes.OperatorWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The common part of the operator's writes: one idempotent transaction with its audit and inbox rows. */
@ApplicationScoped
class OperatorWriteContext {

    private final OperatorWrites writes;
    private final SystemDatabase database;
    private final AuditLog audit;
    private final CurrentCaller currentCaller;

    OperatorWriteContext(OperatorWrites writes, SystemDatabase database, AuditLog audit, CurrentCaller currentCaller) {
        this.writes = writes;
        this.database = database;
        this.audit = audit;
        this.currentCaller = currentCaller;
    }

    /** One transaction of the caller. */
    record WriteContext(SqlConnection connection, Caller caller) {}

    Uni<Response> run(
            UriInfo uri, WriteParams params, @Nullable Object body, Function<WriteContext, Uni<WriteReply>> work) {
        Caller caller = currentCaller.current();
        return writes.run(
                caller.subject(), uri, params, body, connection -> work.apply(new WriteContext(connection, caller)));
    }

    /** A transaction whose answer is not kept for a repeated key. */
    <T> Uni<T> runUnstored(WriteMode mode, Function<WriteContext, Uni<T>> work) {
        Caller caller = currentCaller.current();
        return database.in(mode, connection -> work.apply(new WriteContext(connection, caller)));
    }

    /** A write that needs a body. */
    <B> Uni<Response> run(UriInfo uri, WriteParams params, @Nullable B body, BodyWork<B> work) {
        if (body == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        return run(uri, params, body, (WriteContext context) -> work.apply(context, body));
    }

    /** The work on a body that is present. */
    interface BodyWork<B> {
        Uni<WriteReply> apply(WriteContext work, B body);
    }

    /** The answer to a write that holds a secret. */
    Response unstored(WriteMode mode, WriteReply writeReply) {
        return writes.unstored(mode, writeReply);
    }

    Uni<Void> record(
            WriteContext work, String action, String resource, @Nullable Object before, @Nullable Object after) {
        return audit.record(
                work.connection(),
                AuditLog.OPERATOR,
                work.caller(),
                new AuditLog.Change(action, resource, before, after));
    }

    Uni<Void> postToInbox(WriteContext work, Inbox.Kind kind, UUID id) {
        return Inbox.post(work.connection(), null, kind, id.toString());
    }

    static ProblemException existsWithOtherFields(String kind, String name) {
        return ProblemException.conflict(
                "already-exists",
                "there is a " + kind + " named " + name + " with other content; change it with PATCH");
    }
}
