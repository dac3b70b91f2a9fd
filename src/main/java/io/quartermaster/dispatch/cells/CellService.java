package io.quartermaster.dispatch.cells;

import io.quartermaster.access.Caller;
import io.quartermaster.access.CurrentCaller;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.dispatch.read.DispatchConfig;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
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
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Returns the cells, and resets a stamp that is ahead of the clock.
 *
 * <p>The leader dates all its writes by the stamp, in order. So a reset must not set the stamp before any record: usage
 * events, closed hours, attempts, changes of workloads, past use. A cycle without a change moves the stamp but leaves
 * no record.
 */
@ApplicationScoped
class CellService {

    private static final String CELLS = """
            select id, epoch, case when lease_until > clock_timestamp() then leader end as leader,
                   case when lease_until > clock_timestamp() then lease_until end as lease_until, stamp,
                       clock_timestamp() as now,
                   cycle_median_ms, cycle_p99_ms, cycle_times_at,
                   (select count(*) from (select 1 from inbox i where i.cell_id = c.id and i.set_aside_at is null
                       limit 10000) b) as inbox_rows,
                   (select extract(epoch from clock_timestamp() - i.created_at) * 1000 from inbox i
                     where i.cell_id = c.id and i.set_aside_at is null order by i.id limit 1) as inbox_age_ms,
                   (select count(*) from inbox i where i.cell_id = c.id and i.set_aside_at is not null)
                       + (select count(*) from tenant t where t.set_aside_at is not null)
                       + (select count(*) from workload w where w.set_aside_at is not null) as quarantined,
                   greatest(timestamptz 'epoch',
                       (select timestamptz 'epoch' + e.at_ms * interval '1 millisecond' from usage_event e
                           where e.cell_id = c.id order by e.seq desc limit 1),
                       (select timestamptz 'epoch' + max(h.hour_ms) * interval '1 millisecond' from closed_hour h),
                       (select timestamptz 'epoch' + max(u.as_of_ms) * interval '1 millisecond' from past_use u
                           where u.cell_id = c.id),
                       (select max(greatest(a.bound_at, a.started_at, a.stopping_at, a.ended_at)) from attempt a),
                       (select max(w.changed_at) from workload w)) as last_record
              from cell c
            """;

    private final SystemDatabase database;
    private final OperatorWrites writes;
    private final AuditLog audit;
    private final CurrentCaller currentCaller;
    private final DispatchConfig config;

    CellService(
            SystemDatabase database,
            OperatorWrites writes,
            AuditLog audit,
            CurrentCaller currentCaller,
            DispatchConfig config) {
        this.database = database;
        this.writes = writes;
        this.audit = audit;
        this.currentCaller = currentCaller;
        this.config = config;
    }

    Uni<Page<CellApi.View>> list(PageRequest page) {
        String scope = "cells";
        int size = page.size();
        String after = page.after(scope).orElse("");
        return database.on(connection -> connection
                        .preparedQuery(CELLS + " where id > $1 order by id limit $2")
                        .execute(Tuple.of(after, size + 1)))
                .map(rows -> {
                    List<CellApi.View> cells = new ArrayList<>();
                    rows.forEach(row -> cells.add(view(row)));
                    return Page.of(cells, size, scope, CellApi.View::name);
                });
    }

    Uni<CellApi.View> get(String name) {
        return database.on(connection -> find(connection, name, ""));
    }

    Uni<Response> resetStamp(String name, WriteParams params, UriInfo uri) {
        Caller caller = currentCaller.current();
        return writes.run(caller.subject(), uri, params, null, connection -> find(connection, name, " for update")
                .chain(before -> set(connection, before, resetTo(before, Instant.now()))
                        .chain(() -> find(connection, name, ""))
                        .call(after -> audit.record(
                                connection,
                                AuditLog.OPERATOR,
                                caller,
                                new AuditLog.Change("cells:reset-stamp", "cells/" + name, before, after))))
                .map(WriteReply::ok));
    }

    /** The new stamp. Refuses the reset if it would be unsafe or change nothing. */
    private Instant resetTo(CellApi.View cell, Instant replicaTime) {
        Duration tolerance = config.clockTolerance();
        if (cell.stampAhead().compareTo(tolerance) <= 0) {
            throw ProblemException.conflict(
                    "stamp-not-ahead",
                    "The stamp of cell " + cell.name() + " is not ahead of the database's clock by more than "
                            + tolerance + ", so it does not keep any replica from leading. No reset is needed.");
        }
        Duration off = Duration.between(cell.databaseTime(), replicaTime).abs();
        if (off.compareTo(tolerance) > 0) {
            throw ProblemException.conflict(
                    "clocks-differ",
                    "The database's clock and the clock of the replica that serves this call are " + off
                            + " apart, so it is unknown which of them is right. Synchronize both with one time source "
                            + "and repeat the call.");
        }
        if (Duration.between(cell.databaseTime(), cell.lastRecord()).compareTo(tolerance) > 0) {
            throw ProblemException.conflict(
                    "recorded-in-the-future",
                    "The cell has a record dated " + cell.lastRecord()
                            + ", and a reset never sets the stamp before a record. Planning resumes by itself at "
                            + (cell.lastRecord().isAfter(cell.stamp()) ? cell.lastRecord() : cell.stamp())
                                    .minus(tolerance)
                            + ", when the database's clock has caught up with the stamp.");
        }
        Instant now = Instant.ofEpochMilli(cell.databaseTime().toEpochMilli());
        return cell.lastRecord().isAfter(now) ? cell.lastRecord() : now;
    }

    /** Sets the stamp with a new epoch, so that no earlier leader commits with the old stamp. */
    private static Uni<Void> set(SqlConnection connection, CellApi.View cell, Instant stamp) {
        return connection
                .preparedQuery(
                        "update cell set stamp = $2, epoch = epoch + 1, leader = null, lease_until = '-infinity' "
                                + "where id = $1")
                .execute(Tuple.of(cell.name(), OffsetDateTime.ofInstant(stamp, ZoneOffset.UTC)))
                .replaceWithVoid();
    }

    private static Uni<CellApi.View> find(SqlConnection connection, String name, String lock) {
        return connection
                .preparedQuery(CELLS + " where id = $1" + lock)
                .execute(Tuple.of(name))
                .map(rows -> {
                    if (rows.rowCount() == 0) {
                        throw ProblemException.notFound();
                    }
                    return view(rows.iterator().next());
                });
    }

    private static CellApi.View view(Row row) {
        Instant stamp = row.getOffsetDateTime("stamp").toInstant();
        Instant now = row.getOffsetDateTime("now").toInstant();
        OffsetDateTime leaseUntil = row.getOffsetDateTime("lease_until");
        return new CellApi.View(
                row.getString("id"),
                row.getLong("epoch"),
                row.getString("leader"),
                leaseUntil == null ? null : leaseUntil.toInstant(),
                stamp,
                now,
                stamp.isAfter(now) ? Duration.between(now, stamp) : Duration.ZERO,
                cycles(row),
                new CellApi.Backlog(row.getLong("inbox_rows"), age(row)),
                row.getLong("quarantined"),
                row.getOffsetDateTime("last_record").toInstant());
    }

    private static CellApi.@Nullable CycleTimes cycles(Row row) {
        OffsetDateTime at = row.getOffsetDateTime("cycle_times_at");
        return at == null
                ? null
                : new CellApi.CycleTimes(
                        Duration.ofMillis(row.getLong("cycle_median_ms")),
                        Duration.ofMillis(row.getLong("cycle_p99_ms")),
                        at.toInstant());
    }

    private static @Nullable Duration age(Row row) {
        Number millis = row.getNumeric("inbox_age_ms");
        return millis == null ? null : Duration.ofMillis(Math.max(0, millis.longValue()));
    }
}
