package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.WithoutLeader;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** With a fairness window groups alternate, also across a change of leaders. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class PastUseIT {

    private static final Duration LONG = Duration.ofMinutes(10);

    @Inject
    SystemDatabase database;

    /** A pool of one GPU that two groups request, with a running workload of one of them. */
    private static final class OneGpu {
        private final CellRows rows;
        private final UUID profile;
        private final UUID first;
        private final UUID second;
        private final UUID firstQueue;
        private final UUID secondQueue;

        OneGpu(SystemDatabase database, String tenant) {
            rows = new CellRows(database, tenant);
            UUID pool = rows.pool(tenant);
            rows.node(pool, tenant + "-1", 1, LONG);
            rows.allotment(pool, 0, 1);
            profile = rows.profile(1, pool);
            first = rows.policy("/first", pool, 0, 1);
            second = rows.policy("/second", pool, 0, 1);
            firstQueue = rows.queue(first, profile);
            secondQueue = rows.queue(second, profile);
        }

        UUID submitFirst() {
            return rows.submit(firstQueue, first, profile);
        }

        UUID submitSecond() {
            return rows.submit(secondQueue, second, profile);
        }

        /** Ages the past use, as if the present amounts had been held for that long. */
        void age(Duration by) {
            rows.run("update past_use set as_of_ms = as_of_ms - $1", by.toMillis());
        }
    }

    private static Settings window(OptionalLong millis) {
        return Settings.DEFAULT.toBuilder().fairnessWindowMillis(millis).settings();
    }

    @Test
    void anotherLeaderKnowsWhoseTurnItIs() {
        OneGpu cell = new OneGpu(database, "past-a");
        try (HandLedCell leader = HandLedCell.lead(
                database, window(OptionalLong.of(Duration.ofHours(1).toMillis())))) {
            UUID job = cell.submitFirst();
            leader.settle();
            cell.age(Duration.ofMinutes(10));
            leader.rebuild();
            cell.rows.report(job, "ended", "succeeded");
            leader.settle();
            assertThat(cell.rows.run("select held_gpu_milli, average_gpu_nano from past_use where scope = 'past-a' "
                            + "and path = 'past-a/first'"))
                    .singleElement()
                    .satisfies(row -> {
                        assertThat(row.getLong("held_gpu_milli")).isZero();
                        assertThat(row.getLong("average_gpu_nano")).isBetween(100_000_000L, 120_000_000L);
                    });

            leader.rebuild();
            UUID again = cell.submitFirst();
            UUID other = cell.submitSecond();
            leader.settle();
            assertThat(cell.rows.state(other)).isEqualTo("starting");
            assertThat(cell.rows.state(again)).isEqualTo("waiting");
        }
    }

    @Test
    void aStartCountsAtOnceForTheNextLeaderToo() {
        OneGpu cell = new OneGpu(database, "past-c");
        Settings penalty = window(OptionalLong.of(Duration.ofHours(1).toMillis())).toBuilder()
                .entryPenaltyMillis(Duration.ofMinutes(10).toMillis())
                .settings();
        try (HandLedCell leader = HandLedCell.lead(database, penalty)) {
            UUID job = cell.submitFirst();
            leader.settle();
            leader.rebuild();
            cell.rows.report(job, "ended", "succeeded");
            leader.settle();
            assertThat(cell.rows.run(
                            "select average_gpu_nano from past_use where scope = 'past-c' and path = 'past-c/first'"))
                    .singleElement()
                    .satisfies(
                            row -> assertThat(row.getLong("average_gpu_nano")).isBetween(100_000_000L, 120_000_000L));

            leader.rebuild();
            UUID again = cell.submitFirst();
            UUID other = cell.submitSecond();
            leader.settle();
            assertThat(cell.rows.state(other)).isEqualTo("starting");
            assertThat(cell.rows.state(again)).isEqualTo("waiting");
        }
    }

    @Test
    void withoutAWindowThereIsNoPastAndWhatWasKeptGoes() {
        OneGpu cell = new OneGpu(database, "past-b");
        cell.rows.run("insert into past_use (cell_id, scope, path, average_gpu_nano, held_gpu_milli, as_of_ms) values "
                + "('main', 'past-b', 'past-b/first', 900000000, 0, 0)");
        try (HandLedCell leader = HandLedCell.lead(database, window(OptionalLong.empty()))) {
            UUID first = cell.submitFirst();
            UUID second = cell.submitSecond();
            leader.settle();
            assertThat(cell.rows.state(first)).isEqualTo("starting");
            assertThat(cell.rows.state(second)).isEqualTo("waiting");
            assertThat(cell.rows.run("select 1 from past_use")).isEmpty();
        }
    }
}
