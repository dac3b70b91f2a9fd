package io.quartermaster.embedded;

import java.util.function.BiConsumer;

/**
 * The configuration keys through which the service finds PostgreSQL, Redis and Keycloak, wherever they run. The keys of the program's
 * three roles in the database are named here and nowhere else.
 */
public final class ServiceProperties {

    public static final String KEYCLOAK_URL = "quartermaster.identity.keycloak-url";

    private ServiceProperties() {}

    /** A name and its password. */
    public record Account(String user, String password) {
        @Override
        public String toString() {
            return user;
        }
    }

    /** The address is {@code postgresql://host:port/database?...}, without credentials. */
    public static void database(
            String address, Account owner, Account request, Account system, BiConsumer<String, String> to) {
        to.accept("quarkus.datasource.reactive.url", address);
        to.accept("quarkus.datasource.username", request.user());
        to.accept("quarkus.datasource.password", request.password());
        to.accept("quarkus.datasource.system.reactive.url", address);
        to.accept("quarkus.datasource.system.username", system.user());
        to.accept("quarkus.datasource.system.password", system.password());
        to.accept("quarkus.datasource.jdbc.url", "jdbc:" + address);
        to.accept("quarkus.flyway.username", owner.user());
        to.accept("quarkus.flyway.password", owner.password());
        to.accept("quarkus.flyway.placeholders.requestRole", request.user());
        to.accept("quarkus.flyway.placeholders.systemRole", system.user());
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
