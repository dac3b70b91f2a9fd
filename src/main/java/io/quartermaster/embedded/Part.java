package io.quartermaster.embedded;

import java.util.Set;

/** What runs beside the service. The titles are what people read in messages. */
public enum Part {
    POSTGRES("PostgreSQL", "QM_POSTGRES_PORT", "--postgres-port"),
    REDIS("Redis", "QM_REDIS_PORT", "--redis-port"),
    KEYCLOAK("Keycloak", "QM_KEYCLOAK_PORT", "--keycloak-port"),
    /** The agent of this machine; it listens nowhere. */
    AGENT("Agent", "", "");

    /** What can also be given from outside. */
    public static final Set<Part> EXCHANGEABLE = Set.of(POSTGRES, REDIS, KEYCLOAK);

    private final String title;
    private final String portVariable;
    private final String portOption;

    Part(String title, String portVariable, String portOption) {
        this.title = title;
        this.portVariable = portVariable;
        this.portOption = portOption;
    }

    public String title() {
        return title;
    }

    /** The settings that change its port, for messages. */
    public String portSettings() {
        return portOption + " or " + portVariable;
    }
}
