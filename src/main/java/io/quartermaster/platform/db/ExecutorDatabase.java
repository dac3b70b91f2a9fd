package io.quartermaster.platform.db;

import io.quarkus.reactive.datasource.ReactiveDataSource;
import io.vertx.mutiny.sqlclient.Pool;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;

/**
 * {@link SystemDatabase} with a connection pool for the executors alone, so that no request can keep an agent from
 * renewing its lease.
 */
@Singleton
@Typed(ExecutorDatabase.class)
public class ExecutorDatabase extends SystemDatabase {

    ExecutorDatabase(@ReactiveDataSource("executors") Pool pool) {
        super(pool);
    }
}
