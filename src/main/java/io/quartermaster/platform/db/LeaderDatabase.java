package io.quartermaster.platform.db;

import io.quarkus.reactive.datasource.ReactiveDataSource;
import io.vertx.mutiny.sqlclient.Pool;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;

/**
 * {@link SystemDatabase} with a connection pool for the leader alone, so that requests and agents cannot take a plan's
 * connection.
 */
@Singleton
@Typed(LeaderDatabase.class)
public class LeaderDatabase extends SystemDatabase {

    LeaderDatabase(@ReactiveDataSource("leader") Pool pool) {
        super(pool);
    }
}
