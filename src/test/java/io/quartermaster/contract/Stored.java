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

/** The content of the tables, to check that a request left them unchanged. New tables are included automatically. */
final class Stored {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** Hours close by themselves; no request writes these tables. */
    private static final Set<String> BOOKS = Set.of("closed_hour", "segment", "usage_hour");
    /** Tables of the migrations, and data that changes by itself: leases, the operator's sealing of chains. */
    private static final Set<String> APART = Set.of("flyway_schema_history");

    private final SystemDatabase database;

    Stored(SystemDatabase database) {
        this.database = database;
    }

    /** By table, the number of a tenant's rows and a digest of their content. */
    Map<String, String> of(String tenant) {
        awaitQuiet(tenant);
        Map<String, String> content = new TreeMap<>();
        for (String table :
                names("select table_name from information_schema.columns where table_schema = 'public' and column_name "
                        + "= 'tenant_id'")) {
            if (!BOOKS.contains(table)) {
                content.put(
                        table,
                        text(
                                "select count(*) || ' rows ' || coalesce(md5(string_agg(t::text, ',' order by "
                                        + "t::text)), '') from "
                                        + table + " t where tenant_id = $1",
                                Tuple.of(tenant)));
            }
        }
        content.put("tenant", text("select t::text from tenant t where id = $1", Tuple.of(tenant)));
        return content;
    }

    /** By table, the number of all rows. */
    Map<String, String> rowCounts() {
        // The leader removes inbox rows at any time; the identity column shows how many were ever inserted.
        StringBuilder query = new StringBuilder(
                "select 'inbox', coalesce(pg_sequence_last_value(pg_get_serial_sequence('inbox', 'id')), 0)::text");
        for (String table :
                names("select table_name from information_schema.tables where table_schema = 'public' and table_type = "
                        + "'BASE TABLE'")) {
            if (!APART.contains(table) && !BOOKS.contains(table) && !table.equals("inbox")) {
                query.append(" union all select '%1$s', count(*)::text from %1$s".formatted(table));
            }
        }
        Map<String, String> counts = new TreeMap<>();
        database.on(connection -> connection.query(query.toString()).execute())
                .await()
                .atMost(PATIENCE)
                .forEach(row -> counts.put(row.getString(0), row.getString(1)));
        return counts;
    }

    /**
     * Waits for the effects of the fixtures: the leader has removed their inbox rows, and the sealer has sealed their
     * audit entries.
     */
    private void awaitQuiet(String tenant) {
        Awaitility.await("nothing is under way for " + tenant)
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(200))
                .until(() -> text(
                                "select ((select count(*) from inbox where tenant_id = $1) + (select count(*) "
                                        + "from audit_entry where tenant_id = $1 and seq is null))::text",
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
