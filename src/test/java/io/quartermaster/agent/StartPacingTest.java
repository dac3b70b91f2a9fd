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
        assertThat(pacing.pauseMillis(2_000)).isEqualTo(StartPacing.MAX_PAUSE_MILLIS);
    }

    @Test
    void afterAPauseOneIsTriedAlone() {
        die(0);
        UUID next = UUID.randomUUID();
        pacing.recordStart(next, 2_000);
        assertThat(pacing.pauseMillis(2_000)).isPositive();
        pacing.recordBegin(next);
        assertThat(pacing.pauseMillis(2_000)).isZero();
    }

    @Test
    void aSupervisorThatHangsDoesNotHoldUpTheNode() {
        die(0);
        pacing.recordStart(UUID.randomUUID(), 1_000);
        long since = 1_000 + StartPacing.STARTUP_TIMEOUT_MILLIS;
        assertThat(pacing.pauseMillis(since - 1)).isPositive();
        assertThat(pacing.pauseMillis(since)).isZero();
        UUID next = UUID.randomUUID();
        pacing.recordStart(next, since);
        assertThat(pacing.pauseMillis(since + 1))
                .as("the next is tried alone, too")
                .isPositive();
        pacing.recordBegin(next);
        assertThat(pacing.pauseMillis(since + 1)).isZero();
    }

    @Test
    void aSupervisorThatDiesLaterHoldsUpNothing() {
        UUID id = UUID.randomUUID();
        pacing.recordStart(id, 0);
        pacing.recordBegin(id);
        pacing.recordDeath(id, 0);
        pacing.recordDeath(UUID.randomUUID(), 0);
        assertThat(pacing.pauseMillis(0)).isZero();
    }

    private void die(long nowMillis) {
        UUID id = UUID.randomUUID();
        pacing.recordStart(id, nowMillis);
        pacing.recordDeath(id, nowMillis);
    }
}
