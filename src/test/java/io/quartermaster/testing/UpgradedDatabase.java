package io.quartermaster.testing;

import io.vertx.core.Vertx;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.PoolOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.eclipse.microprofile.config.ConfigProvider;
import org.flywaydb.core.Flyway;

/**
 * A database restored from a dump of a released version and upgraded to the newest one, beside the one that the service
 * uses.
 */
public final class UpgradedDatabase implements AutoCloseable {

    private static final String ADDRESS = "quarkus.datasource.jdbc.url";

    private final String name;
    private final String address;
    private final Vertx vertx = Vertx.vertx();
    private final Pool system;

    private UpgradedDatabase(String name, String address) {
        this.name = name;
        this.address = address;
        URI server = URI.create(address.substring("jdbc:".length()));
        this.system = new Pool(PgBuilder.pool()
                .with(new PoolOptions().setMaxSize(4))
                .connectingTo(new PgConnectOptions()
                        .setHost(server.getHost())
                        .setPort(server.getPort())
                        .setDatabase(name)
                        .setUser(setting("quarkus.datasource.system.username"))
                        .setPassword(setting("quarkus.datasource.system.password")))
                .using(vertx)
                .build());
    }

    /** @param dump a resource written by {@link DatabaseDump} */
    public static UpgradedDatabase of(String dump) {
        String service = setting(ADDRESS);
        String name = "upgraded_" + Long.toUnsignedString(System.nanoTime(), 36);
        administer("create database " + name + " owner " + setting("quarkus.flyway.username"));
        administer("grant connect on database " + name + " to " + setting("quarkus.datasource.username") + ", "
                + setting("quarkus.datasource.system.username"));
        UpgradedDatabase database =
                new UpgradedDatabase(name, service.replaceFirst("/[^/?]+(\\?|$)", "/" + name + "$1"));
        database.restore(dump);
        return database;
    }

    private void restore(String dump) {
        try (Connection owner = owner();
                InputStream text = UpgradedDatabase.class.getResourceAsStream(dump)) {
            DatabaseDump.restore(owner, text);
        } catch (SQLException e) {
            throw new AssertionError(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs the missing migrations, as the service does at its start, and returns their number. */
    public int migrate() {
        return flyway("quarkus.flyway").migrate().migrationsExecuted;
    }

    /** Whether a replica without the owner's account accepts the schema of this database. */
    public boolean isValidForSystemRole() {
        return flyway("quarkus.datasource.system").validateWithResult().validationSuccessful;
    }

    private Flyway flyway(String account) {
        return Flyway.configure()
                .dataSource(address, setting(account + ".username"), setting(account + ".password"))
                .placeholders(Map.of(
                        "requestRole", setting("quarkus.datasource.username"),
                        "systemRole", setting("quarkus.datasource.system.username")))
                .load();
    }

    public Connection owner() throws SQLException {
        return DriverManager.getConnection(
                address, setting("quarkus.flyway.username"), setting("quarkus.flyway.password"));
    }

    /** A connection with all rights: for counting rows, never for the actions of the service. */
    public Connection superuser() throws SQLException {
        return superuser(address);
    }

    /** A connection of the role under row-level security. */
    public Connection request() throws SQLException {
        return DriverManager.getConnection(
                address, setting("quarkus.datasource.username"), setting("quarkus.datasource.password"));
    }

    /** The pool of the role that sees all tenants. */
    public Pool system() {
        return system;
    }

    @Override
    public void close() {
        system.close().await().indefinitely();
        vertx.close().toCompletionStage().toCompletableFuture().join();
        administer("drop database " + name + " with (force)");
    }

    private static void administer(String statement) {
        try (Connection connection = superuser(setting(ADDRESS));
                Statement run = connection.createStatement()) {
            run.execute(statement);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    private static Connection superuser(String address) throws SQLException {
        return DriverManager.getConnection(
                address, "postgres", System.getProperty(EmbeddedServicesResource.SUPERUSER_PASSWORD));
    }

    private static String setting(String key) {
        return ConfigProvider.getConfig().getValue(key, String.class);
    }
}
