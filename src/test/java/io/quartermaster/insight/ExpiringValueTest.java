package io.quartermaster.insight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import org.junit.jupiter.api.Test;

/** How long a costly value is reused. */
class ExpiringValueTest {

    private long nowMillis;
    private long readingMillis = 1_000;
    private int reads;
    private final Deque<Runnable> later = new ArrayDeque<>();

    private final ExpiringValue<Integer> expiringValue = new ExpiringValue<>(
            () -> {
                nowMillis += readingMillis;
                return ++reads;
            },
            read -> Duration.ofMillis(readingMillis).toNanos(),
            () -> Duration.ofMillis(nowMillis).toNanos(),
            later::add);

    private int askedAt(long millis) {
        nowMillis = millis;
        return expiringValue.get();
    }

    @Test
    void itsUseCountsFromTheEndOfTheReading() {
        assertThat(askedAt(0)).isEqualTo(1);
        assertThat(askedAt(5_999)).isEqualTo(1);
        assertThat(askedAt(6_000)).isEqualTo(2);
    }

    @Test
    void whatIsVeryCostlyIsStillNewerThanTenSeconds() {
        readingMillis = 60_000;
        assertThat(askedAt(0)).isEqualTo(1);
        assertThat(askedAt(69_999)).isEqualTo(1);
        assertThat(askedAt(70_000)).isEqualTo(2);
    }

    @Test
    void howeverOftenItIsReadOneLookIsPendingAndLetsItGoOnce() {
        for (int i = 0; i < 20; i++) {
            askedAt(i * 10_000L);
        }
        assertThat(reads).isEqualTo(20);
        assertThat(later).hasSize(1);
        later.remove().run();
        assertThat(later).as("the value was used in the meantime").hasSize(1);
        nowMillis += ExpiringValue.MAX_UNUSED_TIME.toMillis();
        later.remove().run();
        assertThat(later).as("the value is released").isEmpty();
        expiringValue.get();
        assertThat(reads).isEqualTo(21);
        assertThat(later).hasSize(1);
    }

    @Test
    void aReadingThatFailsLeavesNothing() {
        ExpiringValue<String> failing = new ExpiringValue<>(
                () -> {
                    throw new IllegalStateException("cannot be read");
                },
                read -> 0,
                () -> 0,
                later::add);
        assertThatIllegalStateException().isThrownBy(failing::get);
        assertThat(later).isEmpty();
    }
}
