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

        streak.recordFailure();
        streak.recordFailure();
        assertThat(gauge()).isEqualTo(2);

        streak.recordSuccess();
        assertThat(gauge()).isZero();
    }

    @Test
    void theAlarmComesOnceNoSearchExplainsTheFailuresAndAgainAfterAWhile() {
        FailureStreak streak = new FailureStreak(5, metrics);

        List<Long> alarms = LongStream.rangeClosed(1, 70)
                .filter(n -> streak.recordFailure())
                .boxed()
                .toList();

        assertThat(alarms).containsExactly(6L, 66L);
    }

    @Test
    void aRowThatIsToBlameIsFoundBeforeTheAlarm() {
        for (int batch : List.of(1, 2, 7, 200, 1000, 5000)) {
            PoisonRowFinder poisonRowFinder = new PoisonRowFinder(batch);
            FailureStreak streak = new FailureStreak(PoisonRowFinder.maxSearchCycles(batch), metrics);
            List<Long> rows = LongStream.range(0, batch).boxed().toList();

            OptionalLong blamed = OptionalLong.empty();
            while (blamed.isEmpty()) {
                List<Long> taken = taken(poisonRowFinder.beginCycle(), rows);
                poisonRowFinder.recordRead(taken, false);
                if (taken.contains(0L)) {
                    assertThat(streak.recordFailure()).as("batch of %d", batch).isFalse();
                    blamed = poisonRowFinder.recordFailure();
                } else {
                    streak.recordSuccess();
                    poisonRowFinder.recordSuccess();
                }
            }

            assertThat(blamed).hasValue(0L);
        }
    }

    private static List<Long> taken(PoisonRowFinder.Selection selection, List<Long> rows) {
        return switch (selection) {
            case PoisonRowFinder.Selection.Oldest(int limit, boolean leftovers) -> rows.subList(0, limit);
            case PoisonRowFinder.Selection.None() -> List.of();
            case PoisonRowFinder.Selection.Only(long id) -> List.of(id);
        };
    }

    private double gauge() {
        return metrics.get("quartermaster.dispatch.failed.cycles").gauge().value();
    }
}
