package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RetryPauseTest {
    private static final long LEASE = 30_000;

    private final RetryPause pause = new RetryPause(200, 10_000, new Random(1));

    @Test
    void itDoublesUpToItsLimitWithoutALease() {
        long last = 0;
        for (int failure = 0; failure < 20; failure++) {
            last = pause.nextPauseMillis(0, false);
            assertThat(last).isBetween(Math.min(10_000, 200L << failure) / 2, Math.min(10_000, 200L << failure));
        }
        assertThat(last).isGreaterThanOrEqualTo(5_000);
    }

    @Test
    void aLeaseOutlivesItManyTimes() {
        for (int failure = 0; failure < 20; failure++) {
            assertThat(pause.nextPauseMillis(LEASE, false)).isLessThanOrEqualTo(LEASE / 15);
        }
    }

    @Test
    void itIsTheShortestWhereTheServiceAsksForACallInAMoment() {
        for (int failure = 0; failure < 20; failure++) {
            pause.nextPauseMillis(0, false);
        }

        assertThat(pause.nextPauseMillis(0, true)).isLessThanOrEqualTo(200);
        assertThat(pause.isFailing()).isTrue();
    }

    @Test
    void itBeginsAnewAfterASuccess() {
        pause.nextPauseMillis(0, false);
        pause.nextPauseMillis(0, false);

        pause.recordSuccess();

        assertThat(pause.isFailing()).isFalse();
        assertThat(pause.nextPauseMillis(0, false)).isLessThanOrEqualTo(200);
    }
}
