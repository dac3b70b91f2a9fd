package io.quartermaster.contract;

import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.StreamSupport;
import org.awaitility.Awaitility;

/** What the tables hold, to see that a request left them alone. A table that is added is looked at without anybody naming it. */
final class Stored {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** The hour closes by itself; no request writes these. */
    private static final Set<String> BOOKS = Set.of("closed_hour", "segment");
    /** Migrations' own, and what moves by itself: leases, the operator's sealing of chains. */
    private static final Set<String> APART = Set.of("flyway_schema_history");

    private final SystemDatabase database;

    Stored(SystemDatabase database) {
        this.database = database;
    }

    /** By table, how many rows a tenant has and a digest of their content. */
    Map<String, String> of(String tenant) {
        awaitQuiet(tenant);
        Map<String, String> content = new TreeMap<>();
        for (String table : names(
                "select table_name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'")) {
            if (!BOOKS.contains(table)) {
                content.put(
                        table,
                        text(
                                "select count(*) || ' rows ' || coalesce(md5(string_agg(t::text, ',' order by t::text)), '') from "
                                        + table + " t where tenant_id = $1",
                                Tuple.of(tenant)));
            }
        }
        content.put("tenant", text("select t::text from tenant t where id = $1", Tuple.of(tenant)));
        return content;
    }

    /** By table, how many rows there are of anybody. */
    Map<String, String> rowCounts() {
        Map<String, String> counts = new TreeMap<>();
        for (String table : names(
                "select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'")) {
            // The leader takes inbox rows away whenever it likes; the identity says how many were ever put there.
            if (!APART.contains(table) && !BOOKS.contains(table) && !table.equals("inbox")) {
                counts.put(table, text("select count(*)::text from " + table, Tuple.tuple()));
            }
        }
        counts.put(
                "inbox",
                text(
                        "select coalesce(pg_sequence_last_value(pg_get_serial_sequence('inbox', 'id')), 0)::text",
                        Tuple.tuple()));
        return counts;
    }

    /** What the fixtures set going has ended: the leader has taken their inbox rows, the sealer has sealed their audit entries. */
    private void awaitQuiet(String tenant) {
        Awaitility.await("nothing is under way for " + tenant)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(200))
                .until(() -> text(
                                "select ((select count(*) from inbox where tenant_id = $1) + (select count(*) from audit_entry where tenant_id = $1 and seq is null))::text",
                                Tuple.of(tenant))
                        .equals("0"));
    }

    private List<String> names(String query) {
        RowSet<Row> rows = database.on(connection -> connection.query(query).execute())
                .await()
                .atMost(PATIENCE);
        return StreamSupport.stream(rows.spliterator(), false)
                .map(row -> row.getString(0))
                .sorted()
                .toList();
    }

    private String text(String query, Tuple values) {
        return database.on(connection -> connection.preparedQuery(query).execute(values))
                .await()
                .atMost(PATIENCE)
                .iterator()
                .next()
                .getString(0);
    }
}
