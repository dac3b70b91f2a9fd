package io.quartermaster.launch;

import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * The configuration keys through which the service finds PostgreSQL, Redis and Keycloak, embedded or external. Only
 * this class names the keys of the program's three database roles.
 */
public final class ServiceProperties {

    public static final String KEYCLOAK_URL = "quartermaster.identity.keycloak-url";

    private ServiceProperties() {}

    /** A user name and its password. */
    public record Account(String user, String password) {
        @Override
        public String toString() {
            return user;
        }
    }

    /**
     * Sets the keys of the database. The address is {@code postgresql://host:port/database?...}, without credentials.
     * With the owner's account the start migrates the database. Without it, the start compares the migrations of the
     * database with those of this program, as the system role. It refuses to start when some are missing.
     */
    public static void database(
            String address, Optional<Account> owner, Account request, Account system, BiConsumer<String, String> to) {
        to.accept("quarkus.datasource.reactive.url", address);
        to.accept("quarkus.datasource.username", request.user());
        to.accept("quarkus.datasource.password", request.password());
        to.accept("quarkus.datasource.system.reactive.url", address);
        to.accept("quarkus.datasource.system.username", system.user());
        to.accept("quarkus.datasource.system.password", system.password());
        migrations(address, owner.orElse(system), request.user(), system.user(), to);
        if (owner.isEmpty()) {
            to.accept("quarkus.flyway.migrate-at-start", "false");
            to.accept("quarkus.flyway.validate-at-start", "true");
        }
    }

    /**
     * Sets the keys that migrations need: of the other two roles only their names, to which the migrations grant
     * rights.
     */
    public static void migrations(
            String address, Account account, String requestRole, String systemRole, BiConsumer<String, String> to) {
        to.accept("quarkus.datasource.jdbc.url", "jdbc:" + address);
        to.accept("quarkus.flyway.username", account.user());
        to.accept("quarkus.flyway.password", account.password());
        to.accept("quarkus.flyway.placeholders.requestRole", requestRole);
        to.accept("quarkus.flyway.placeholders.systemRole", systemRole);
    }

    public static void redis(String url, BiConsumer<String, String> to) {
        to.accept("quarkus.redis.hosts", url);
    }

    public static void identity(String url, Account admin, BiConsumer<String, String> to) {
        to.accept(KEYCLOAK_URL, url);
        to.accept("quartermaster.identity.admin-username", admin.user());
        to.accept("quartermaster.identity.admin-password", admin.password());
    }
}
