package io.quartermaster.embedded;

import io.quartermaster.launch.ServiceProperties;
import io.quartermaster.launch.StartFailure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/**
 * The roles and databases that Quartermaster needs, created when they are missing. The deploy folder has the same
 * statements for an external database.
 */
final class DatabaseRoles {

    static final String OWNER = "qm_owner";
    static final String REQUEST = "qm_request";
    static final String SYSTEM = "qm_system";
    static final String KEYCLOAK = "keycloak";
    static final String DATABASE = "quartermaster";

    private final Secrets secrets;

    DatabaseRoles(Secrets secrets) {
        this.secrets = secrets;
    }

    String password(String role) {
        return secrets.password("postgres." + role);
    }

    ServiceProperties.Account account(String role) {
        return new ServiceProperties.Account(role, password(role));
    }

    void create(EmbeddedPostgres postgres) {
        try (Connection connection = postgres.connect("postgres");
                Statement statement = connection.createStatement()) {
            for (String role : List.of(OWNER, REQUEST, SYSTEM, KEYCLOAK)) {
                if (!exists(connection, "select 1 from pg_roles where rolname = ?", role)) {
                    statement.execute("create role " + role
                            + " login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '"
                            + password(role) + "'");
                }
            }
            // No request and no plan may hold its locks forever, even if the client does not end its transaction.
            for (String role : List.of(REQUEST, SYSTEM)) {
                statement.execute("alter role " + role + " set statement_timeout = '60s'");
            }
            // A request that stalls inside its transaction blocks its rows for the leader no longer than this.
            statement.execute("alter role " + REQUEST + " set idle_in_transaction_session_timeout = '5s'");
            statement.execute("alter role " + SYSTEM + " set idle_in_transaction_session_timeout = '60s'");
            createDatabase(connection, statement, DATABASE, OWNER);
            statement.execute("grant connect on database " + DATABASE + " to " + REQUEST + ", " + SYSTEM);
            createDatabase(connection, statement, KEYCLOAK, KEYCLOAK);
        } catch (SQLException e) {
            throw new StartFailure("PostgreSQL refused to create roles and databases: " + e.getMessage(), e);
        }
    }

    private static void createDatabase(Connection connection, Statement statement, String name, String owner)
            throws SQLException {
        if (!exists(connection, "select 1 from pg_database where datname = ?", name)) {
            statement.execute("create database " + name + " owner " + owner);
            statement.execute("revoke all on database " + name + " from public");
        }
    }

    private static boolean exists(Connection connection, String query, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setString(1, name);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }
}
