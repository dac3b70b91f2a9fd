package io.quartermaster.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.postgresql.PGConnection;

/**
 * Writes the database of an installation into one compressed SQL file, and restores it. The file begins with the
 * migrations that created the schema. The rows of every table follow, in the order of their references, and then the
 * positions of the sequences.
 *
 * <p>The procedure for a dump is in {@code src/test/resources/db/README.md}.
 */
public final class DatabaseDump {

    private static final String COPY = "copy ";
    private static final String END_OF_ROWS = "\\.";
    private static final String HISTORY = "flyway_schema_history";

    private static final String TABLES =
            "select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by "
                    + "relname";
    private static final String REFERENCES = """
            select distinct c.relname, r.relname from pg_constraint f
              join pg_class c on c.oid = f.conrelid join pg_class r on r.oid = f.confrelid
             where f.contype = 'f' and c.oid <> r.oid order by 1, 2
            """;
    private static final String FORCED =
            "select relname from pg_class where relforcerowsecurity and relnamespace = 'public'::regnamespace "
                    + "order by relname";
    private static final String COLUMNS = """
            select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
             where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = ''
            """;
    private static final String SEQUENCES = """
            select format('select setval(%L, %s, %L::boolean);', sequencename, coalesce(last_value, start_value),
                last_value is not null)
              from pg_sequences where schemaname = 'public' order by sequencename
            """;

    private DatabaseDump() {}

    /** Arguments: the JDBC address of the database, the superuser's name and password, and the file to write. */
    public static void main(String... args) throws Exception {
        if (args.length != 4) {
            throw new IllegalArgumentException("expected: JDBC-ADDRESS SUPERUSER PASSWORD FILE.sql.gz");
        }
        try (Connection connection = DriverManager.getConnection(args[0], args[1], args[2])) {
            write(connection, Path.of(args[3]));
        }
    }

    /** Writes the dump in one snapshot, as a superuser, which row-level security does not restrict. */
    static void write(Connection connection, Path file) throws SQLException, IOException {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (OutputStream compressed = new GZIPOutputStream(Files.newOutputStream(file));
                Writer out = new OutputStreamWriter(compressed, StandardCharsets.UTF_8)) {
            List<String> tables = inOrderOfReferences(connection);
            writeSchema(connection, out);
            List<String> forced = strings(connection, FORCED);
            for (String table : forced) {
                out.write("alter table " + table + " no force row level security;\n");
            }
            out.write("truncate table " + String.join(", ", tables) + ";\n");
            for (String table : tables) {
                writeRows(connection, table, out);
            }
            for (String line : strings(connection, SEQUENCES)) {
                out.write(line + "\n");
            }
            for (String table : forced) {
                out.write("alter table " + table + " force row level security;\n");
            }
        }
        connection.rollback();
    }

    /** Restores the dump as the owner of an empty database. */
    static void restore(Connection connection, InputStream dump) {
        connectionWithoutCommit(connection);
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(new GZIPInputStream(dump), StandardCharsets.UTF_8))) {
            StringBuilder script = new StringBuilder();
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(COPY)) {
                    execute(connection, script);
                    copyIn(connection, line, lines);
                } else {
                    script.append(line).append('\n');
                }
            }
            execute(connection, script);
            connection.commit();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (SQLException e) {
            throw new AssertionError("the dump cannot be restored: " + e.getMessage(), e);
        }
    }

    private static void connectionWithoutCommit(Connection connection) {
        try {
            connection.setAutoCommit(false);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static void execute(Connection connection, StringBuilder script) throws SQLException {
        if (!script.isEmpty()) {
            try (Statement statement = connection.createStatement()) {
                statement.execute(script.toString());
            }
            script.setLength(0);
        }
    }

    private static void copyIn(Connection connection, String command, BufferedReader lines)
            throws SQLException, IOException {
        StringBuilder rows = new StringBuilder();
        for (String row = lines.readLine(); row != null && !row.equals(END_OF_ROWS); row = lines.readLine()) {
            rows.append(row).append('\n');
        }
        connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyIn(command.substring(0, command.length() - 1), new StringReader(rows.toString()));
    }

    private static void writeSchema(Connection connection, Writer out) throws SQLException, IOException {
        out.write("-- The database of Quartermaster at version "
                + strings(connection, "select max(version) from " + HISTORY).getFirst()
                + ", as its owner restores it.\n");
        out.write("""
                create table flyway_schema_history (
                    installed_rank int not null constraint flyway_schema_history_pk primary key,
                    version varchar(50), description varchar(200) not null, type varchar(20) not null, script varchar(1000) not null,
                    checksum int, installed_by varchar(100) not null, installed_on timestamp not null default now(),
                    execution_time int not null, success boolean not null);
                create index flyway_schema_history_s_idx on flyway_schema_history (success);
                """);
        for (String script : strings(connection, "select script from " + HISTORY + " order by installed_rank")) {
            out.write(migration(script));
        }
    }

    /** The text of a migration, with the names of the roles that the embedded services create. */
    private static String migration(String script) throws IOException {
        try (InputStream text = DatabaseDump.class.getResourceAsStream("/" + script)) {
            if (text == null) {
                throw new IOException("this program has no migration " + script);
            }
            return new String(text.readAllBytes(), StandardCharsets.UTF_8)
                    .replace("${requestRole}", "qm_request")
                    .replace("${systemRole}", "qm_system");
        }
    }

    private static void writeRows(Connection connection, String table, Writer out) throws SQLException, IOException {
        String columns;
        try (var statement = connection.prepareStatement(COLUMNS)) {
            statement.setString(1, table);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                columns = rows.getString(1);
            }
        }
        StringWriter rows = new StringWriter();
        connection
                .unwrap(PGConnection.class)
                .getCopyAPI()
                .copyOut("copy (select " + columns + " from " + table + " order by 1, 2) to stdout", rows);
        out.write(COPY + table + " (" + columns + ") from stdin;\n" + rows + END_OF_ROWS + "\n");
    }

    /** The tables, each after those that it references. */
    private static List<String> inOrderOfReferences(Connection connection) throws SQLException {
        List<String[]> references = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(REFERENCES)) {
            while (rows.next()) {
                references.add(new String[] {rows.getString(1), rows.getString(2)});
            }
        }
        List<String> left = strings(connection, TABLES);
        Set<String> ordered = new LinkedHashSet<>();
        while (!left.isEmpty()) {
            List<String> ready = left.stream()
                    .filter(table -> references.stream()
                            .allMatch(reference -> !reference[0].equals(table) || ordered.contains(reference[1])))
                    .toList();
            if (ready.isEmpty()) {
                throw new IllegalStateException("these tables refer to each other: " + left);
            }
            ordered.addAll(ready);
            left.removeAll(ready);
        }
        return List.copyOf(ordered);
    }

    private static List<String> strings(Connection connection, String query) throws SQLException {
        List<String> found = new ArrayList<>();
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(query)) {
            while (rows.next()) {
                found.add(rows.getString(1));
            }
        }
        return found;
    }
}
