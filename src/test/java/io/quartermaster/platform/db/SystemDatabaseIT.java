package io.quartermaster.platform.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.Test;

@QuarkusTest
@TestProfile(WithoutLeader.class)
class SystemDatabaseIT {

    private static final Duration LONG = Duration.ofSeconds(10);

    @Inject
    SystemDatabase database;

    @Test
    void aTransactionOfManyShortStatementsIsBoundedAsAWhole() {
        SystemDatabase.Bounds bounds = new SystemDatabase.Bounds(LONG, Duration.ofMillis(500), LONG);

        assertThatThrownBy(() -> database.run(bounds, tx -> {
                    tx.run("insert into past_use (cell_id, scope, path, average_gpu_nano, held_gpu_milli, "
                            + "as_of_ms) values ('main', 'bounds', 'x', 0, 0, 0)");
                    for (int i = 0; i < 100; i++) {
                        tx.run("select pg_sleep(0.02)");
                    }
                    return true;
                }))
                .satisfies(failure -> assertThat(DatabaseFailures.isTransient(failure))
                        .as("%s", failure)
                        .isTrue());

        int rows = database.run(LONG, tx -> tx.run("select 1 from past_use where scope = 'bounds'")
                .rowCount());
        assertThat(rows).isZero();
    }

    @Test
    void aLockThatIsNotFreeInTimeIsToldFromOtherFailures() {
        SystemDatabase.Bounds bounds = new SystemDatabase.Bounds(LONG, LONG, Duration.ofMillis(100));

        database.run(LONG, holder -> {
            holder.run("select 1 from cell where id = 'main' for update");
            assertThatThrownBy(
                            () -> database.run(bounds, tx -> tx.run("select 1 from cell where id = 'main' for update")))
                    .satisfies(failure ->
                            assertThat(DatabaseFailures.isLockTimeout(failure)).isTrue());
            return true;
        });
    }

    @Test
    void connectionsThatComeTooLateGoBackToThePool() throws Exception {
        int more =
                ConfigProvider.getConfig().getValue("quarkus.datasource.system.reactive.max-size", Integer.class) + 2;
        List<Uni<Void>> holders = IntStream.range(0, more)
                .mapToObj(i -> database.on(connection ->
                        connection.query("select pg_sleep(1)").execute().replaceWithVoid()))
                .toList();
        CompletableFuture<Void> held =
                Uni.join().all(holders).andCollectFailures().replaceWithVoid().subscribeAsCompletionStage();
        for (int i = 0; i < more; i++) {
            assertThatThrownBy(() -> database.run(Duration.ofMillis(10), tx -> true))
                    .satisfies(failure -> assertThat(DatabaseFailures.isTransient(failure))
                            .as("%s", failure)
                            .isTrue());
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> database.run(LONG, tx -> true)).isNotNull();
            assertThat(Thread.interrupted()).isTrue();
        }
        held.get(LONG.toSeconds(), TimeUnit.SECONDS);

        boolean served = database.run(LONG, tx -> true);
        assertThat(served).isTrue();
    }
}
