package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.reactive.datasource.ReactiveDataSource;
import io.quarkus.redis.datasource.RedisDataSource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.vertx.RunOnVertxContext;
import io.quarkus.test.vertx.UniAsserter;
import io.vertx.mutiny.sqlclient.Pool;
import jakarta.inject.Inject;
import java.time.Duration;
import org.hibernate.reactive.mutiny.Mutiny;
import org.junit.jupiter.api.Test;

/** The three accounts in PostgreSQL and the one in Redis, as the service connects with them. */
@QuarkusTest
class DatabaseAccessIT {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Inject
    Mutiny.SessionFactory sessions;

    @Inject
    @ReactiveDataSource("system")
    Pool system;

    @Inject
    Pool request;

    @Inject
    RedisDataSource redis;

    @Test
    @RunOnVertxContext
    void hibernateReactiveWorksAsTheRequestRole(UniAsserter asserter) {
        asserter.assertEquals(
                () -> sessions.withTransaction((session, transaction) -> session.createNativeQuery(
                                "select cast(current_user as text)", String.class)
                        .getSingleResult()),
                "qm_request");
    }

    @Test
    void theNamedPoolBesideItWorksAsTheSystemRole() {
        assertThat(text(system, "select current_user::text")).isEqualTo("qm_system");
        assertThat(text(request, "select current_user::text")).isEqualTo("qm_request");
    }

    @Test
    void migrationsRanAsTheOwner() {
        assertThat(text(system, "select tableowner::text from pg_tables where tablename = 'tenant'"))
                .isEqualTo("qm_owner");
    }

    @Test
    void noRoleOfOursIsSuperuserOrPassesRowSecurity() {
        assertThat(text(
                        system,
                        "select count(*)::text from pg_roles where rolname in ('qm_owner', 'qm_request', "
                                + "'qm_system', 'keycloak')"
                                + " and not rolsuper and not rolbypassrls and not rolcreaterole and not rolcreatedb"))
                .isEqualTo("4");
    }

    @Test
    void whatIsAcknowledgedIsOnDisk() {
        assertThat(text(system, "select current_setting('fsync') || current_setting('synchronous_commit')"))
                .isEqualTo("onon");
    }

    @Test
    void passwordsAreCheckedOnLoopbackToo() {
        assertThat(text(system, "select system_user::text")).startsWith("scram-sha-256:");
    }

    @Test
    void redisAnswers() {
        assertThat(redis.execute("PING").toString()).isEqualTo("PONG");
    }

    private static String text(Pool pool, String query) {
        return pool.query(query)
                .execute()
                .map(rows -> rows.iterator().next().getString(0))
                .await()
                .atMost(PATIENCE);
    }
}
