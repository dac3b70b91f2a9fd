package io.quartermaster.embedded;

/** What can be embedded. The names are what people read in messages. */
public enum Part {
    POSTGRES("PostgreSQL", "QM_POSTGRES_PORT", "--postgres-port"),
    REDIS("Redis", "QM_REDIS_PORT", "--redis-port"),
    KEYCLOAK("Keycloak", "QM_KEYCLOAK_PORT", "--keycloak-port");

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
