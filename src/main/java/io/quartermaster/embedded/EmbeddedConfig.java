package io.quartermaster.embedded;

import io.quartermaster.launch.Component;
import io.quartermaster.launch.StartFailure;
import java.nio.file.Path;
import java.util.Set;

/**
 * The parts to start and their ports.
 *
 * @param components the embedded parts that the service uses; PostgreSQL is also started when only Keycloak needs it
 * @param keycloakHome the unpacked Keycloak distribution, which is prepared in place once
 */
public record EmbeddedConfig(
        DataFolder folder,
        Path keycloakHome,
        Set<Component> components,
        int postgresPort,
        int redisPort,
        int keycloakPort,
        ProgressListener progress) {

    public EmbeddedConfig {
        components = Set.copyOf(components);
        if (!Component.EXCHANGEABLE.containsAll(components)) {
            throw new IllegalArgumentException("cannot choose these parts: " + components);
        }
        requirePort(postgresPort);
        requirePort(redisPort);
        requirePort(keycloakPort);
    }

    private static void requirePort(int port) {
        if (port < 1 || port > 65_535) {
            throw new StartFailure("There is no port " + port + "; a port is between 1 and 65535.");
        }
    }

    int port(Component component) {
        return switch (component) {
            case POSTGRES -> postgresPort;
            case REDIS -> redisPort;
            case KEYCLOAK -> keycloakPort;
            case AGENT -> throw new IllegalArgumentException("an agent has no port");
        };
    }
}
