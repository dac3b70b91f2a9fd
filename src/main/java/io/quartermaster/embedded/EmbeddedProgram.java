package io.quartermaster.embedded;

/** A running embedded program. Closing asks it to end, waits, and kills it if necessary. */
public sealed interface EmbeddedProgram extends AutoCloseable
        permits EmbeddedPostgres, EmbeddedRedis, EmbeddedKeycloak, EmbeddedAgent {

    ManagedProcess process();

    @Override
    void close();
}
