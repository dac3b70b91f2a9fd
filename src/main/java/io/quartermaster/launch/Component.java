package io.quartermaster.launch;

import java.util.Set;

/** A part that runs beside the service. The titles appear in messages. */
public enum Component {
    POSTGRES("PostgreSQL", "postgres", "QM_POSTGRES_PORT", "--postgres-port"),
    REDIS("Redis", "redis", "QM_REDIS_PORT", "--redis-port"),
    KEYCLOAK("Keycloak", "keycloak", "QM_KEYCLOAK_PORT", "--keycloak-port"),
    /** The agent of this machine; it listens on no port. */
    AGENT("Agent", "agent", "", "");

    /** The parts that can also be external. */
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

    /** The name of its files in the data folder. */
    public String program() {
        return program;
    }

    /** The settings that change its port, for messages. */
    public String portSettings() {
        return portOption + " or " + portVariable;
    }
}
