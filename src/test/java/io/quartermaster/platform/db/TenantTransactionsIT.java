package io.quartermaster.platform.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hamcrest.Matchers.equalTo;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.redis.RedisScriptRunner;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.hibernate.reactive.mutiny.Mutiny;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The outcome of a transaction whose caller has disconnected. */
@QuarkusTest
class TenantTransactionsIT {

    private static final TenantId TENANT = new TenantId("transactions-a");
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    @Inject
    TenantTransactions transactions;

    @Inject
    SystemDatabase database;

    @Inject
    RedisScriptRunner redis;

    private final AtomicReference<String> begun = new AtomicReference<>("");
    private final AtomicReference<String> seen = new AtomicReference<>("");

    private Uni<String> slowly(Mutiny.Session session) {
        begun.set("begun");
        return session.createNativeQuery("select cast(pg_sleep(0.5) as text)", String.class)
                .getSingleResult()
                .chain(() -> session.createNativeQuery("select current_setting('app.tenant')", String.class)
                        .getSingleResult())
                .invoke(seen::set);
    }

    @ParameterizedTest
    @EnumSource(WriteMode.class)
    void itGoesOnToItsEnd(WriteMode mode) throws Throwable {
        VertxContextSupport.subscribeAndAwait(() -> Uni.createFrom().<String>emitter(asker -> {
            var asking = transactions.in(TENANT, mode, this::slowly).subscribe().with(asker::complete, asker::fail);
            Uni.createFrom()
                    .voidItem()
                    .onItem()
                    .delayIt()
                    .by(Duration.ofMillis(200))
                    .subscribe()
                    .with(done -> {
                        asking.cancel();
                        asker.complete("gone");
                    });
        }));
        assertThat(begun).hasValue("begun");
        Awaitility.await().atMost(PATIENCE).untilAtomic(seen, equalTo(TENANT.value()));
    }

    @Test
    void itsConnectionServesOthersAfterwards() throws Throwable {
        itGoesOnToItsEnd(WriteMode.COMMIT);
        for (int i = 0; i < 30; i++) {
            String tenant = VertxContextSupport.subscribeAndAwait(() -> transactions.in(
                    TENANT, session -> session.createNativeQuery("select current_setting('app.tenant')", String.class)
                            .getSingleResult()));
            assertThat(tenant).isEqualTo(TENANT.value());
        }
    }

    @Test
    void noOtherSystemIsCalledWhileAConnectionIsHeld() throws Throwable {
        refused(() -> transactions.in(TENANT, session -> redis.hgetall("transactions-a")));
        refused(() -> database.in(connection -> redis.hgetall("transactions-a")));
        refused(() -> database.in(WriteMode.DRY_RUN, connection -> redis.hgetall("transactions-a")));
        refused(() -> database.on(
                connection -> connection.query("select 1").execute().chain(() -> redis.hgetall("transactions-a"))));
        assertThatThrownBy(() -> database.run(
                        PATIENCE,
                        open -> redis.hgetall("transactions-a").await().atMost(PATIENCE)))
                .hasMessageContaining("Redis is called while");

        VertxContextSupport.subscribeAndAwait(() -> transactions
                .in(TENANT, session -> Uni.createFrom().voidItem())
                .chain(() -> redis.hgetall("transactions-a")));
    }

    private static void refused(Supplier<Uni<?>> work) {
        assertThatThrownBy(() -> VertxContextSupport.subscribeAndAwait(() -> work.get()))
                .hasMessageContaining("Redis is called while");
    }
}
