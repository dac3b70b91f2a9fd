package io.quartermaster.platform.db;

import io.quarkus.reactive.datasource.ReactiveDataSource;
import io.vertx.mutiny.sqlclient.Pool;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;

/** {@link SystemDatabase} with a pool of the leader's own, so that no request or agent can keep a plan from its connection. */
@Singleton
@Typed(LeaderDatabase.class)
public class LeaderDatabase extends SystemDatabase {

    LeaderDatabase(@ReactiveDataSource("leader") Pool pool) {
        super(pool);
    }
}
