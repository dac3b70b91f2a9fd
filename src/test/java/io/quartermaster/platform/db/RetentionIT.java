package io.quartermaster.platform.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.Ids;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One round deletes all expired rows, however many there are. */
@QuarkusTest
class RetentionIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int MANY = 21_000;

    @Inject
    SystemDatabase database;

    @Inject
    RetentionCleaner cleaner;

    @Inject
    MeterRegistry metrics;

    @Test
    void everyOldEntryOfTheFeedGoesButTheNewestOfItsTenant() {
        for (String tenant : List.of("retention-a", "retention-b")) {
            feed(tenant, 1, MANY, "25 hours");
        }
        feed("retention-b", MANY + 1, 3, "23 hours");
        double before = deleted("feed");

        cleaner.clean().await().atMost(PATIENCE);

        assertThat(count("select count(*) from feed where tenant_id = $1", "retention-a"))
                .isEqualTo(1);
        assertThat(count("select max(seq) from feed where tenant_id = $1", "retention-a"))
                .isEqualTo(MANY);
        assertThat(count("select count(*) from feed where tenant_id = $1", "retention-b"))
                .isEqualTo(3);
        assertThat(deleted("feed") - before).isGreaterThanOrEqualTo(2.0 * MANY - 1);
        assertThat(overdue("feed")).isZero();
    }

    @Test
    void theEnvironmentOfFinishedWorkIsEmptiedInTime() {
        UUID old = workload("retention-c", "25 hours");
        UUID young = workload("retention-c", "23 hours");
        UUID waiting = workload("retention-d", null);

        cleaner.clean().await().atMost(PATIENCE);

        String environment = "select count(*) from workload where cast(id as text) = $1 and environment <> '{}'";
        assertThat(count(environment, old.toString())).isZero();
        assertThat(count(environment, young.toString())).isEqualTo(1);
        assertThat(count(environment, waiting.toString())).isEqualTo(1);
        assertThat(overdue("workload.environment")).isZero();
    }

    /** Inserts a workload whose profile names no pool, so that no leader plans it. */
    @AfterEach
    void nothingWaits() {
        run(
                "update workload set state = 'cancelled', ended_at = clock_timestamp() where tenant_id = $1 and "
                        + "ended_at is null",
                Tuple.of("retention-d"));
    }

    private void feed(String tenant, int from, int rows, String age) {
        run(
                "insert into feed (tenant_id, seq, kind, ref, body, at) select $1, n, 'workload', '', '{}', "
                        + "clock_timestamp() - cast($4::text as interval) from generate_series($2::bigint, $2::bigint + "
                        + "$3::bigint - 1) n",
                Tuple.of(tenant, (long) from, (long) rows, age));
    }

    /** @param ended how long ago it ended; null: it waits and is held, so that no leader starts it */
    private UUID workload(String tenant, @org.jspecify.annotations.Nullable String ended) {
        UUID policy = Ids.next();
        UUID profile = Ids.next();
        UUID queue = Ids.next();
        UUID id = Ids.next();
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'suspended') on conflict do nothing",
                Tuple.of(tenant));
        run(
                "insert into policy (tenant_id, id, name, group_path, retired_at) values ($1, $2, 'p', '/g', "
                        + "clock_timestamp())",
                Tuple.of(tenant, policy));
        run(
                "insert into profile (tenant_id, id, name, gpu_milli, pool_ids, retired_at) values ($1, $2, 'p', "
                        + "1000, '{}', clock_timestamp())",
                Tuple.of(tenant, profile));
        run(
                "insert into queue (tenant_id, id, name, policy_id, profile_id, retired_at) values ($1, $2, 'q', "
                        + "$3, $4, clock_timestamp())",
                Tuple.of(tenant, queue, policy, profile));
        run(
                "insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by, "
                        + "priority, preemptible, command, environment, state, ended_at) values ($1, $2, 'w', 'training', "
                        + "$3, $4, $5, 'someone', 50, true, '[]', '{\"TOKEN\": \"x\"}', case when $6::text is null then "
                        + "'held' else 'succeeded' end, clock_timestamp() - cast($6::text as interval))",
                Tuple.tuple()
                        .addString(tenant)
                        .addUUID(id)
                        .addUUID(queue)
                        .addUUID(policy)
                        .addUUID(profile)
                        .addString(ended));
        return id;
    }

    private double deleted(String rows) {
        return metrics.get("quartermaster.retention.deleted")
                .tag("rows", rows)
                .counter()
                .count();
    }

    private double overdue(String rows) {
        return metrics.get("quartermaster.retention.overdue")
                .tag("rows", rows)
                .gauge()
                .value();
    }

    private void run(String sql, Tuple values) {
        database.on(connection -> connection.preparedQuery(sql).execute(values))
                .await()
                .atMost(PATIENCE);
    }

    private long count(String sql, String value) {
        return database.on(connection -> connection.preparedQuery(sql).execute(Tuple.of(value)))
                .map(rows -> rows.iterator().next().getLong(0))
                .await()
                .atMost(PATIENCE);
    }
}
