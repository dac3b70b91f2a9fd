package io.quartermaster.dispatch.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RetryBackoffTest {

    private static final long MINUTE = 60_000;

    @Test
    void theDelayDoublesFromASecondToFiveMinutes() {
        RetryBackoff retryBackoff = RetryBackoff.NONE;
        long[] delays = {1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000};
        for (long delay : delays) {
            retryBackoff = retryBackoff.afterLoss(0, 100);
            assertThat(retryBackoff.retryAtMillis()).isEqualTo(OptionalLong.of(100 + delay));
        }
        assertThat(retryBackoff.quickLosses()).isEqualTo(delays.length);
    }

    @Test
    void workThatRanForAWhileBeforeItWasLostIsTriedAgainAtOnce() {
        RetryBackoff before = RetryBackoff.NONE.afterLoss(0, 1);
        assertThat(before.afterLoss(0, MINUTE)).isEqualTo(RetryBackoff.NONE);
    }

    @Test
    void theDelayIsOverWhenItsTimeHasCome() {
        RetryBackoff lost = RetryBackoff.NONE.afterLoss(0, 100);
        assertThat(lost.isDelayedAt(1_099)).isTrue();
        assertThat(lost.isDelayedAt(1_100)).isFalse();
        assertThat(lost.withoutDelay().isDelayedAt(100)).isFalse();
        assertThat(lost.withoutDelay().afterLoss(2_000, 2_001).quickLosses()).isEqualTo(2);
        assertThat(lost.sentence())
                .isEqualTo("Its last attempt was lost within a minute of being given GPUs; it is tried again at "
                        + "1970-01-01 00:00:01 UTC.");
    }
}
