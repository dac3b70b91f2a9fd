package io.quartermaster.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;

class ExponentialDecayTest {
    private final ExponentialDecay hour = new ExponentialDecay(3_600_000);

    @Test
    void halfIsForgottenInOneHalfLife() {
        assertThat(hour.average(1_000_000, 0, 3_600_000)).isBetween(499_999L, 500_000L);
        assertThat(hour.average(0, 1_000_000, 3_600_000)).isBetween(500_000L, 500_001L);
    }

    @Test
    void noTimeChangesNothing() {
        assertThat(hour.average(7, 1_000, 0)).isEqualTo(7);
    }

    @Test
    void afterVeryLongOnlyWhatIsHeldCounts() {
        assertThat(hour.average(1_000_000_000_000L, 42, 1_000_000_000_000L)).isEqualTo(42);
    }

    @Test
    void itFollowsTheExponentialCurve() {
        Random random = new Random(3);
        for (int i = 0; i < 10_000; i++) {
            long before = random.nextLong(1L << 50);
            long held = random.nextLong(1L << 50);
            long elapsed = random.nextLong(20 * 3_600_000L);
            double left = Math.pow(2, -elapsed / 3_600_000.0);
            double exact = before * left + held * (1 - left);
            assertThat((double) hour.average(before, held, elapsed)).isCloseTo(exact, within(1e-9 * exact + 2));
        }
    }
}
