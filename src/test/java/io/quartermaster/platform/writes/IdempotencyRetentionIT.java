package io.quartermaster.platform.writes;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.db.RetentionCleaner;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Expired answers to idempotency keys are deleted, those of the operator and those of every tenant. */
@QuarkusTest
class IdempotencyRetentionIT {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    @Inject
    SystemDatabase database;

    @Inject
    RetentionCleaner cleaner;

    @Test
    void keysOlderThanADayAreForgottenAndOthersStay() {
        String key = UUID.randomUUID().toString();
        for (String tenant : List.of(OperatorWrites.OPERATOR, "keys-a", "keys-b")) {
            keep(tenant, key + "-old", 25);
            keep(tenant, key + "-young", 23);
        }

        cleaner.clean().await().atMost(PATIENCE);

        assertThat(count(key + "-old")).isZero();
        assertThat(count(key + "-young")).isEqualTo(3);
    }

    private void keep(String tenant, String key, int hours) {
        database.on(connection -> connection
                        .preparedQuery(
                                "insert into idempotency (tenant_id, caller, key, fingerprint, created_at) values "
                                        + "($1, 'someone', $2, '', clock_timestamp() - make_interval(hours => $3))")
                        .execute(Tuple.of(tenant, key, hours)))
                .await()
                .atMost(PATIENCE);
    }

    private long count(String key) {
        return database.on(connection -> connection
                        .preparedQuery("select count(*) from idempotency where key = $1")
                        .execute(Tuple.of(key)))
                .map(rows -> rows.iterator().next().getLong(0))
                .await()
                .atMost(PATIENCE);
    }
}
