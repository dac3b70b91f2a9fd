package io.quartermaster.client.output;

/** The form of a command's answer, as {@code -o} states it. */
public enum OutputFormat {
    /** Columns and sentences for people; may change with each version. */
    TABLE,
    /** The fields of the API as JSON. */
    JSON,
    /** The fields of the API as YAML. */
    YAML,
    /** One id or name per line, for scripts. */
    NAME
}
