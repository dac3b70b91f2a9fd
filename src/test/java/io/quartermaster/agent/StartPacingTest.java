package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class StartPacingTest {

    private final StartPacing pacing = new StartPacing();

    @Test
    void thePauseDoublesWithEachSupervisorThatDiesBeforeItBegan() {
        assertThat(pacing.pauseMillis(0)).isZero();
        die(0);
        assertThat(pacing.pauseMillis(0)).isEqualTo(1_000);
        assertThat(pacing.pauseMillis(1_000)).isZero();
        die(1_000);
        assertThat(pacing.pauseMillis(1_000)).isEqualTo(2_000);
        for (int i = 0; i < 100; i++) {
            die(2_000);
        }
        assertThat(pacing.pauseMillis(2_000)).isEqualTo(StartPacing.LONGEST_MILLIS);
    }

    @Test
    void afterAPauseOneIsTriedAlone() {
        die(0);
        UUID next = UUID.randomUUID();
        pacing.started(next, 2_000);
        assertThat(pacing.pauseMillis(2_000)).isPositive();
        pacing.began(next);
        assertThat(pacing.pauseMillis(2_000)).isZero();
    }

    @Test
    void aSupervisorThatHangsDoesNotHoldUpTheNode() {
        die(0);
        pacing.started(UUID.randomUUID(), 1_000);
        long since = 1_000 + StartPacing.COMES_UP_MILLIS;
        assertThat(pacing.pauseMillis(since - 1)).isPositive();
        assertThat(pacing.pauseMillis(since)).isZero();
        UUID next = UUID.randomUUID();
        pacing.started(next, since);
        assertThat(pacing.pauseMillis(since + 1))
                .as("the next is tried alone, too")
                .isPositive();
        pacing.began(next);
        assertThat(pacing.pauseMillis(since + 1)).isZero();
    }

    @Test
    void aSupervisorThatDiesLaterHoldsUpNothing() {
        UUID id = UUID.randomUUID();
        pacing.started(id, 0);
        pacing.began(id);
        pacing.died(id, 0);
        pacing.died(UUID.randomUUID(), 0);
        assertThat(pacing.pauseMillis(0)).isZero();
    }

    private void die(long nowMillis) {
        UUID id = UUID.randomUUID();
        pacing.started(id, nowMillis);
        pacing.died(id, nowMillis);
    }
}
