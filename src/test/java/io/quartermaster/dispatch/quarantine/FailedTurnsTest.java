package io.quartermaster.dispatch.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class FailedTurnsTest {

    private final MeterRegistry metrics = new SimpleMeterRegistry();

    @Test
    void theGaugeCountsFailuresInARowAndStartsAnewWhenATurnGoesWell() {
        FailedTurns turns = new FailedTurns(5, metrics);

        turns.oneFailed();
        turns.oneFailed();
        assertThat(gauge()).isEqualTo(2);

        turns.oneWentWell();
        assertThat(gauge()).isZero();
    }

    @Test
    void theAlarmComesOnceNoSearchExplainsTheFailuresAndAgainAfterAWhile() {
        FailedTurns turns = new FailedTurns(5, metrics);

        List<Long> alarms = LongStream.rangeClosed(1, 70)
                .filter(n -> turns.oneFailed())
                .boxed()
                .toList();

        assertThat(alarms).containsExactly(6L, 66L);
    }

    @Test
    void aRowThatIsToBlameIsFoundBeforeTheAlarm() {
        for (int batch : List.of(1, 2, 7, 200, 1000, 5000)) {
            Suspicion suspicion = new Suspicion(batch);
            FailedTurns turns = new FailedTurns(Suspicion.longestSearch(batch), metrics);
            List<Long> rows = LongStream.range(0, batch).boxed().toList();

            OptionalLong blamed = OptionalLong.empty();
            while (blamed.isEmpty()) {
                List<Long> taken = taken(suspicion.take(), rows);
                suspicion.took(taken, false);
                if (taken.contains(0L)) {
                    assertThat(turns.oneFailed()).as("batch of %d", batch).isFalse();
                    blamed = suspicion.failed();
                } else {
                    turns.oneWentWell();
                    suspicion.succeeded();
                }
            }

            assertThat(blamed).hasValue(0L);
        }
    }

    private static List<Long> taken(Suspicion.Take take, List<Long> rows) {
        return switch (take) {
            case Suspicion.Take.Oldest(int limit, boolean leftovers) -> rows.subList(0, limit);
            case Suspicion.Take.Nothing() -> List.of();
            case Suspicion.Take.Only(long id) -> List.of(id);
        };
    }

    private double gauge() {
        return metrics.get("quartermaster.dispatch.failed.turns").gauge().value();
    }
}
