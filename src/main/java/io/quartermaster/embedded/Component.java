package io.quartermaster.embedded;

import java.util.Set;

/** What runs beside the service. The titles are what people read in messages. */
public enum Component {
    POSTGRES("PostgreSQL", "postgres", "QM_POSTGRES_PORT", "--postgres-port"),
    REDIS("Redis", "redis", "QM_REDIS_PORT", "--redis-port"),
    KEYCLOAK("Keycloak", "keycloak", "QM_KEYCLOAK_PORT", "--keycloak-port"),
    /** The agent of this machine; it listens nowhere. */
    AGENT("Agent", "agent", "", "");

    /** What can also be given from outside. */
    public static final Set<Component> EXCHANGEABLE = Set.of(POSTGRES, REDIS, KEYCLOAK);

    private final String title;
    private final String program;
    private final String portVariable;
    private final String portOption;

    Component(String title, String program, String portVariable, String portOption) {
        this.title = title;
        this.program = program;
        this.portVariable = portVariable;
        this.portOption = portOption;
    }

    public String title() {
        return title;
    }

    /** What its files in the data folder are called. */
    String program() {
        return program;
    }

    /** The settings that change its port, for messages. */
    public String portSettings() {
        return portOption + " or " + portVariable;
    }
}
