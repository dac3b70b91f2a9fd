package io.quartermaster.launch;

import io.quartermaster.launch.ServiceProperties.Account;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The external PostgreSQL, Redis and Keycloak, set by environment variables; the others are embedded.
 *
 * @param properties configuration that points the service at the external ones
 * @param addresses the address of each external one, for messages
 */
public record ExternalServices(Map<Component, String> addresses, Map<String, String> properties) {

    private static final String OWNER = "QM_DATABASE_OWNER";

    public ExternalServices {
        addresses = Map.copyOf(addresses);
        properties = Map.copyOf(properties);
    }

    public static ExternalServices from(Map<String, String> environment) {
        Map<Component, String> addresses = new LinkedHashMap<>();
        Map<String, String> properties = new LinkedHashMap<>();
        String database = environment.getOrDefault("QM_DATABASE_URL", "");
        if (!database.isEmpty()) {
            String address = databaseAddress(database);
            addresses.put(Component.POSTGRES, address);
            ServiceProperties.database(
                    address,
                    ownerAccount(environment),
                    account(environment, "QM_DATABASE_REQUEST"),
                    account(environment, "QM_DATABASE_SYSTEM"),
                    properties::put);
        }
        String redis = environment.getOrDefault("QM_REDIS_URL", "");
        if (!redis.isEmpty()) {
            addresses.put(Component.REDIS, redis.replaceFirst("//[^@/]*@", "//"));
            ServiceProperties.redis(redis, properties::put);
        }
        String keycloak = environment.getOrDefault("QM_KEYCLOAK_URL", "").replaceAll("/+$", "");
        if (!keycloak.isEmpty()) {
            addresses.put(Component.KEYCLOAK, keycloak);
            ServiceProperties.identity(keycloak, account(environment, "QM_KEYCLOAK_ADMIN"), properties::put);
        }
        return new ExternalServices(addresses, properties);
    }

    /** The configuration for {@code qm migrate}. */
    public static Map<String, String> migrations(Map<String, String> environment) {
        Map<String, String> properties = new LinkedHashMap<>();
        String database = environment.getOrDefault("QM_DATABASE_URL", "");
        if (database.isEmpty()) {
            throw new StartFailure("QM_DATABASE_URL must name the database to migrate, such as "
                    + "postgresql://host:5432/quartermaster."
                    + " qm up migrates an embedded database.");
        }
        ServiceProperties.migrations(
                databaseAddress(database),
                account(environment, OWNER),
                role(environment, "QM_DATABASE_REQUEST_USER"),
                role(environment, "QM_DATABASE_SYSTEM_USER"),
                properties::put);
        return properties;
    }

    private static String role(Map<String, String> environment, String variable) {
        String role = environment.getOrDefault(variable, "");
        if (role.isEmpty()) {
            throw new StartFailure(variable + " must name the role that the migrations grant rights to.");
        }
        return role;
    }

    /** Empty where the service must not migrate, because a separate job does. */
    private static Optional<Account> ownerAccount(Map<String, String> environment) {
        boolean absent = environment.getOrDefault(OWNER + "_USER", "").isEmpty()
                && environment.getOrDefault(OWNER + "_PASSWORD", "").isEmpty();
        return absent ? Optional.empty() : Optional.of(account(environment, OWNER));
    }

    public Set<Component> embedded() {
        EnumSet<Component> components = EnumSet.copyOf(Component.EXCHANGEABLE);
        components.removeAll(addresses.keySet());
        return components;
    }

    private static String databaseAddress(String given) {
        String address =
                given.replaceFirst("^(jdbc:|vertx-reactive:)", "").replaceFirst("^postgres://", "postgresql://");
        if (!address.matches("postgresql://[^/@]+/[^/@]+")) {
            throw new StartFailure("QM_DATABASE_URL must have the form postgresql://host:5432/quartermaster, without "
                    + "user and password (set those in QM_DATABASE_REQUEST_USER, "
                    + "QM_DATABASE_REQUEST_PASSWORD, and the variables with SYSTEM and OWNER).");
        }
        return address;
    }

    private static Account account(Map<String, String> environment, String prefix) {
        String user = environment.getOrDefault(prefix + "_USER", "");
        String password = environment.getOrDefault(prefix + "_PASSWORD", "");
        if (user.isEmpty() || password.isEmpty()) {
            throw new StartFailure(prefix + "_USER and " + prefix + "_PASSWORD must be set together with the address.");
        }
        return new Account(user, password);
    }
}
