package io.quartermaster.dispatch.quarantine;

import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.writes.OperatorWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Shows the quarantine to operators, and retries or removes entries for them. The leader acts on it in its next cycle.
 */
@ApplicationScoped
class QuarantineService {

    private static final String PATH = "quarantine-entries/";

    /** An entry's key is the part of its id after the kind. */
    private static final String ENTRIES = """
            select * from (
                select 'inbox-row-' || id as id, 'inbox-row' as kind, id::text as key, tenant_id as tenant,
                    kind || ' ' || ref as subject, set_aside_why as why,
                       set_aside_at as since, null::timestamptz as retry_at, 1 as times, null::text as state,
                           0::bigint as held_milli
                  from inbox where set_aside_at is not null
                union all
                select 'tenant-' || t.id, 'tenant', t.id, t.id, t.id, t.set_aside_why, t.set_aside_at,
                    t.set_aside_until, t.set_aside_times, null,
                       (select coalesce(sum(a.gpu_milli), 0)::bigint from attempt a where a.tenant_id = t.id
                           and a.state <> 'ended')
                  from tenant t where t.set_aside_at is not null
                union all
                select 'workload-' || w.id, 'workload', w.id::text, w.tenant_id, w.id || ' ' || w.name,
                    w.set_aside_why, w.set_aside_at, w.set_aside_until,
                       w.set_aside_times, w.state,
                       (select coalesce(sum(a.gpu_milli), 0)::bigint from attempt a
                           where a.tenant_id = w.tenant_id and a.workload_id = w.id and a.state <> 'ended')
                  from workload w where w.set_aside_at is not null) entry
            """;

    private final SystemDatabase database;
    private final OperatorWrites writes;
    private final AuditLog audit;
    private final CurrentCaller currentCaller;

    QuarantineService(SystemDatabase database, OperatorWrites writes, AuditLog audit, CurrentCaller currentCaller) {
        this.database = database;
        this.writes = writes;
        this.audit = audit;
        this.currentCaller = currentCaller;
    }

    private record FoundEntry(String key, QuarantineApi.Entry entry) {}

    private interface Step {
        Uni<Void> apply(SqlConnection connection, FoundEntry found, Caller caller);
    }

    Uni<Page<QuarantineApi.Entry>> list(PageRequest page) {
        String scope = "quarantine-entries";
        int size = page.size();
        String after = page.after(scope).orElse("");
        return database.on(connection -> connection
                        .preparedQuery(ENTRIES + " where id > $1 order by id limit $2")
                        .execute(Tuple.of(after, size + 1)))
                .map(rows -> {
                    List<QuarantineApi.Entry> entries = new ArrayList<>();
                    rows.forEach(row -> entries.add(toFoundEntry(row).entry()));
                    return Page.of(entries, size, scope, QuarantineApi.Entry::id);
                });
    }

    Uni<QuarantineApi.Entry> get(String id) {
        return database.on(connection -> find(connection, id)).map(FoundEntry::entry);
    }

    Uni<Response> retry(String id, WriteParams params, UriInfo uri) {
        return write(id, params, uri, "quarantine:retry", this::retry);
    }

    Uni<Response> drop(String id, WriteParams params, UriInfo uri) {
        return write(id, params, uri, "quarantine:drop", this::drop);
    }

    private Uni<Response> write(String id, WriteParams params, UriInfo uri, String action, Step step) {
        Caller caller = currentCaller.current();
        return writes.run(caller.subject(), uri, params, null, connection -> find(connection, id)
                .call(found -> step.apply(connection, found, caller))
                .call(found -> audit.record(
                        connection,
                        AuditLog.OPERATOR,
                        caller,
                        new AuditLog.Change(action, PATH + found.entry().id(), found.entry(), null)))
                .map(found -> action.endsWith(":drop") ? WriteReply.noContent() : WriteReply.ok(found.entry())));
    }

    private Uni<Void> retry(SqlConnection connection, FoundEntry found, Caller caller) {
        return switch (found.entry().kind()) {
            case INBOX_ROW ->
                run(
                        connection,
                        "update inbox set set_aside_at = null, set_aside_why = null where id = $1",
                        Long.valueOf(found.key()));
            case WORKLOAD ->
                run(
                        connection,
                        "update workload set set_aside_until = 'epoch' where id = $1 and set_aside_at is not null",
                        UUID.fromString(found.key()));
            case TENANT ->
                run(
                        connection,
                        "update tenant set set_aside_until = 'epoch' where id = $1 and set_aside_at is not null",
                        found.key());
        };
    }

    private Uni<Void> drop(SqlConnection connection, FoundEntry found, Caller caller) {
        return switch (found.entry().kind()) {
            case INBOX_ROW ->
                run(
                        connection,
                        "delete from inbox where id = $1 and set_aside_at is not null",
                        Long.valueOf(found.key()));
            case WORKLOAD -> cancel(connection, found, caller);
            case TENANT ->
                throw ProblemException.conflict(
                        "not-droppable",
                        "A tenant cannot be removed from the quarantine. Fix its allotments and policies and "
                                + "retry it, or suspend or offboard it.");
        };
    }

    private Uni<Void> cancel(SqlConnection connection, FoundEntry found, Caller caller) {
        TenantId tenant = new TenantId(String.valueOf(found.entry().tenant()));
        UUID workload = UUID.fromString(found.key());
        return run(connection, "update workload set wish = 'cancel' where id = $1", workload)
                .chain(() -> Inbox.post(connection, tenant, Inbox.Kind.WORKLOAD, workload.toString()))
                .chain(() -> audit.record(
                        connection,
                        tenant,
                        caller,
                        new AuditLog.Change(
                                "workloads:cancel", "workloads/" + workload, null, Map.of("wish", "cancel"))));
    }

    private static Uni<Void> run(SqlConnection connection, String sql, Object key) {
        return connection.preparedQuery(sql).execute(Tuple.of(key)).replaceWithVoid();
    }

    private static Uni<FoundEntry> find(SqlConnection connection, String id) {
        return connection
                .preparedQuery(ENTRIES + " where id = $1")
                .execute(Tuple.of(id))
                .map(rows -> {
                    if (rows.rowCount() == 0) {
                        throw ProblemException.notFound();
                    }
                    return toFoundEntry(rows.iterator().next());
                });
    }

    private static FoundEntry toFoundEntry(Row row) {
        return new FoundEntry(
                row.getString("key"),
                new QuarantineApi.Entry(
                        row.getString("id"),
                        QuarantineApi.Kind.valueOf(
                                row.getString("kind").toUpperCase(Locale.ROOT).replace('-', '_')),
                        row.getString("tenant"),
                        row.getString("subject"),
                        row.getString("why"),
                        row.getOffsetDateTime("since").toInstant(),
                        instant(row.getOffsetDateTime("retry_at")),
                        row.getInteger("times"),
                        row.getString("state"),
                        new GpuAmount(row.getLong("held_milli")).decimal()));
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }
}
