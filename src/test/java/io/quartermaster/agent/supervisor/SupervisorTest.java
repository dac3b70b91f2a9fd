package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import org.junit.jupiter.api.Test;

class SupervisorTest {
    @Test
    void workThatWasNotAskedToStopEndsAsItsExitCodeSays() {
        assertThat(Supervisor.outcome(0, null, false)).isEqualTo(Outcome.SUCCEEDED);
        assertThat(Supervisor.outcome(1, null, false)).isEqualTo(Outcome.FAILED);
        assertThat(Supervisor.outcome(137, null, false)).isEqualTo(Outcome.FAILED);
    }

    @Test
    void onlyAKillWhileTheKernelKilledForMemoryIsOutOfMemory() {
        assertThat(Supervisor.outcome(137, null, true)).isEqualTo(Outcome.OUT_OF_MEMORY);
        assertThat(Supervisor.outcome(1, null, true)).isEqualTo(Outcome.FAILED);
    }

    @Test
    void workThatWasAskedToStopEndsForThatReasonWhateverItReturns() {
        assertThat(Supervisor.outcome(0, StopReason.PREEMPTED, false)).isEqualTo(Outcome.PREEMPTED);
        assertThat(Supervisor.outcome(137, StopReason.CANCELLED, true)).isEqualTo(Outcome.CANCELLED);
        assertThat(Supervisor.outcome(143, StopReason.TIMED_OUT, false)).isEqualTo(Outcome.TIMED_OUT);
        assertThat(Supervisor.outcome(1, StopReason.GIVEN_UP, false)).isEqualTo(Outcome.LOST);
    }

    @Test
    void theCallbackLeavesAPartOfTheGraceForTerm() {
        assertThat(Supervisor.termAtMillis(100_000, 60_000)).isEqualTo(95_000);
        assertThat(Supervisor.termAtMillis(100_000, 3_000)).isEqualTo(99_000);
    }
}
