package io.quartermaster.metering;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import org.eclipse.microprofile.config.ConfigProvider;

/** PostgreSQL's superuser, for tests that change what no role of the service may change. */
public final class Superuser {

    private Superuser() {}

    public static Connection connection() throws SQLException {
        return DriverManager.getConnection(
                ConfigProvider.getConfig().getValue("quarkus.datasource.jdbc.url", String.class),
                "postgres",
                System.getProperty("quartermaster.testing.superuser-password"));
    }

    public static void run(String sql) {
        try (Connection connection = connection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }
}
