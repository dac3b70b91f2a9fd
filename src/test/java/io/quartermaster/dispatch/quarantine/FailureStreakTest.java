package io.quartermaster.dispatch.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FailureStreakTest {

    private final MeterRegistry metrics = new SimpleMeterRegistry();

    @Test
    void theGaugeCountsFailuresInARowAndStartsAnewWhenACycleGoesWell() {
        FailureStreak streak = new FailureStreak(5, metrics);

        streak.oneFailed();
        streak.oneFailed();
        assertThat(gauge()).isEqualTo(2);

        streak.oneWentWell();
        assertThat(gauge()).isZero();
    }

    @Test
    void theAlarmComesOnceNoSearchExplainsTheFailuresAndAgainAfterAWhile() {
        FailureStreak streak = new FailureStreak(5, metrics);

        List<Long> alarms = LongStream.rangeClosed(1, 70)
                .filter(n -> streak.oneFailed())
                .boxed()
                .toList();

        assertThat(alarms).containsExactly(6L, 66L);
    }

    @Test
    void aRowThatIsToBlameIsFoundBeforeTheAlarm() {
        for (int batch : List.of(1, 2, 7, 200, 1000, 5000)) {
            PoisonRowFinder poisonRowFinder = new PoisonRowFinder(batch);
            FailureStreak streak = new FailureStreak(PoisonRowFinder.longestSearch(batch), metrics);
            List<Long> rows = LongStream.range(0, batch).boxed().toList();

            OptionalLong blamed = OptionalLong.empty();
            while (blamed.isEmpty()) {
                List<Long> taken = taken(poisonRowFinder.take(), rows);
                poisonRowFinder.took(taken, false);
                if (taken.contains(0L)) {
                    assertThat(streak.oneFailed()).as("batch of %d", batch).isFalse();
                    blamed = poisonRowFinder.failed();
                } else {
                    streak.oneWentWell();
                    poisonRowFinder.succeeded();
                }
            }

            assertThat(blamed).hasValue(0L);
        }
    }

    private static List<Long> taken(PoisonRowFinder.Take take, List<Long> rows) {
        return switch (take) {
            case PoisonRowFinder.Take.Oldest(int limit, boolean leftovers) -> rows.subList(0, limit);
            case PoisonRowFinder.Take.Nothing() -> List.of();
            case PoisonRowFinder.Take.Only(long id) -> List.of(id);
        };
    }

    private double gauge() {
        return metrics.get("quartermaster.dispatch.failed.cycles").gauge().value();
    }
}
