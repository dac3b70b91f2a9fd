package io.quartermaster.cli;

import io.quartermaster.embedded.Part;
import io.quartermaster.embedded.ServiceProperties;
import io.quartermaster.embedded.ServiceProperties.Account;
import io.quartermaster.embedded.StartFailure;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * What of PostgreSQL, Redis and Keycloak is given from outside, by environment variables; the rest is embedded.
 *
 * @param properties configuration that points the service at what is given
 * @param addresses where each given part is, for people
 */
record External(Map<Part, String> addresses, Map<String, String> properties) {

    External {
        addresses = Map.copyOf(addresses);
        properties = Map.copyOf(properties);
    }

    static External from(Map<String, String> environment) {
        Map<Part, String> addresses = new LinkedHashMap<>();
        Map<String, String> properties = new LinkedHashMap<>();
        String database = environment.getOrDefault("QM_DATABASE_URL", "");
        if (!database.isEmpty()) {
            String address = databaseAddress(database);
            addresses.put(Part.POSTGRES, address);
            ServiceProperties.database(
                    address,
                    account(environment, "QM_DATABASE_OWNER"),
                    account(environment, "QM_DATABASE_REQUEST"),
                    account(environment, "QM_DATABASE_SYSTEM"),
                    properties::put);
        }
        String redis = environment.getOrDefault("QM_REDIS_URL", "");
        if (!redis.isEmpty()) {
            addresses.put(Part.REDIS, redis.replaceFirst("//[^@/]*@", "//"));
            ServiceProperties.redis(redis, properties::put);
        }
        String keycloak = environment.getOrDefault("QM_KEYCLOAK_URL", "").replaceAll("/+$", "");
        if (!keycloak.isEmpty()) {
            addresses.put(Part.KEYCLOAK, keycloak);
            ServiceProperties.identity(keycloak, account(environment, "QM_KEYCLOAK_ADMIN"), properties::put);
        }
        return new External(addresses, properties);
    }

    Set<Part> embedded() {
        EnumSet<Part> parts = EnumSet.copyOf(Part.EXCHANGEABLE);
        parts.removeAll(addresses.keySet());
        return parts;
    }

    private static String databaseAddress(String given) {
        String address =
                given.replaceFirst("^(jdbc:|vertx-reactive:)", "").replaceFirst("^postgres://", "postgresql://");
        if (!address.matches("postgresql://[^/@]+/[^/@]+")) {
            throw new StartFailure(
                    "QM_DATABASE_URL must be like postgresql://host:5432/quartermaster, without user and password "
                            + "(those are QM_DATABASE_OWNER_USER, QM_DATABASE_OWNER_PASSWORD, and the same with REQUEST and SYSTEM).");
        }
        return address;
    }

    private static Account account(Map<String, String> environment, String prefix) {
        String user = environment.getOrDefault(prefix + "_USER", "");
        String password = environment.getOrDefault(prefix + "_PASSWORD", "");
        if (user.isEmpty() || password.isEmpty()) {
            throw new StartFailure(prefix + "_USER and " + prefix + "_PASSWORD must be set when the address is given.");
        }
        return new Account(user, password);
    }
}
