package io.quartermaster.access.keycloak;

import io.quartermaster.access.IdentityConfig;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.util.Map;

/** Clients of Keycloak's administration with other settings than the service has. */
public final class KeycloakAdmins {

    private KeycloakAdmins() {}

    /** @param settings by their full names. The client need not be closed, since it holds no thread while it is idle */
    public static KeycloakAdmin with(Map<String, String> settings) {
        return new KeycloakAdmin(new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(IdentityConfig.class)
                .withSources(new PropertiesConfigSource(settings, "test", 100))
                .build()
                .getConfigMapping(IdentityConfig.class));
    }
}
