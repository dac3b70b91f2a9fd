package io.quartermaster.metering;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.eclipse.microprofile.config.ConfigProvider;

/** PostgreSQL's superuser, whom no right and no row-level security holds: for tests that change what is written once. */
final class Superuser {

    private Superuser() {}

    static Connection connection() throws SQLException {
        return DriverManager.getConnection(
                ConfigProvider.getConfig().getValue("quarkus.datasource.jdbc.url", String.class),
                "postgres",
                System.getProperty("quartermaster.testing.superuser-password"));
    }

    static void run(String sql) {
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
