package io.quartermaster.embedded;

/** One of them while it runs. Closing asks it to end, waits, and kills it if it must. */
public sealed interface EmbeddedProgram extends AutoCloseable
        permits EmbeddedPostgres, EmbeddedRedis, EmbeddedKeycloak, EmbeddedAgent {

    ManagedProcess child();

    @Override
    void close();
}
