package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.agent.Reconciler.Action;
import io.quartermaster.agent.Reconciler.LocalState;
import io.quartermaster.agent.Reconciler.PauseStatus;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder.PauseRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PauseDecisionTest {
    private static final long NOW = 1_000_000;
    private static final AttemptOrder RUN = Orders.shell("true");
    private static final UUID ID = RUN.attemptId();
    private static final AttemptOrder PAUSE = Orders.paused(RUN, 30_000);
    private static final AttemptOrder RESUME = Orders.resuming(RUN, order -> {});
    private static final UUID NEXT = RESUME.attemptId();
    private static final Action PREEMPT =
            new Action.Stop(ID, new StopRequest(StopReason.PREEMPTED, 30_000, NOW + 30_000));
    private static final Action GIVE_UP = new Action.Stop(ID, new StopRequest(StopReason.GIVEN_UP, 5_000, NOW + 5_000));

    @Test
    void asksOnceWhatCanPause() {
        assertThat(decide(List.of(PAUSE), List.of(), live(PauseStatus.CAN_PAUSE)))
                .containsExactly(new Action.Pause(new PauseRequest(ID, 30_000, NOW + 30_000)));
        assertThat(decide(List.of(PAUSE), List.of(), live(PauseStatus.PAUSE_REQUESTED)))
                .isEmpty();
        assertThat(decide(List.of(PAUSE), List.of(), live(PauseStatus.PAUSED))).isEmpty();
    }

    @Test
    void preemptsWhatCannotPauseAndWhatIsOneTooMany() {
        assertThat(decide(List.of(PAUSE), List.of(), live(PauseStatus.CANNOT_PAUSE)))
                .containsExactly(PREEMPT);
        SortedMap<UUID, LocalState> locals = locals(live(PauseStatus.CAN_PAUSE));
        UUID other = UUID.randomUUID();
        locals.put(other, live(PauseStatus.PAUSED));
        assertThat(Reconciler.decide(List.of(PAUSE), List.of(other), List.of(), locals, 1, NOW))
                .containsExactly(PREEMPT);
        assertThat(Reconciler.decide(List.of(PAUSE), List.of(other), List.of(), locals, 2, NOW))
                .singleElement()
                .isInstanceOf(Action.Pause.class);
    }

    @Test
    void neverStartsWhatIsToPause() {
        assertThat(Reconciler.decide(List.of(PAUSE), List.of(), List.of(), new TreeMap<>(), 1, NOW))
                .containsExactly(new Action.Refuse(PAUSE, Outcome.PREEMPTED, "stopped before it was started"));
    }

    @Test
    void keepsPausedWhatIsListedAndEndsWhatIsNot() {
        assertThat(decide(List.of(), List.of(ID), live(PauseStatus.PAUSED))).isEmpty();
        assertThat(decide(List.of(), List.of(), live(PauseStatus.PAUSED))).containsExactly(GIVE_UP);
        assertThat(decide(List.of(), List.of(ID), live(PauseStatus.CAN_PAUSE))).containsExactly(GIVE_UP);
    }

    @Test
    void keepsAllThatIsPausedWhereTheServiceSaysNothingOfIt() {
        assertThat(Reconciler.decide(List.of(), null, List.of(), locals(live(PauseStatus.PAUSED)), 1, NOW))
                .isEmpty();
    }

    @Test
    void aNewAttemptTakesOverThePausedOne() {
        assertThat(decide(List.of(RESUME), List.of(), live(PauseStatus.PAUSED)))
                .containsExactly(new Action.Resume(RESUME, ID));
        assertThat(Reconciler.decide(
                        List.of(RESUME),
                        List.of(),
                        List.of(),
                        new TreeMap<>(Map.of(NEXT, live(PauseStatus.CAN_PAUSE), ID, new LocalState.Forgotten())),
                        1,
                        NOW))
                .isEmpty();
    }

    @Test
    void nothingStartsBesideProcessesThatEndAndTheNextStartsAnewAfterThem() {
        LocalState ending = new LocalState.Live(
                Optional.of(new StopRequest(StopReason.GIVEN_UP, 5_000, NOW + 5_000)), 5_000, PauseStatus.PAUSED);
        assertThat(decide(List.of(RESUME), List.of(), ending)).isEmpty();
        assertThat(decide(List.of(RESUME), List.of(), new LocalState.Ended()))
                .containsExactly(new Action.Start(RESUME));
        assertThat(Reconciler.decide(List.of(RESUME), List.of(), List.of(), new TreeMap<>(), 1, NOW))
                .containsExactly(new Action.Start(RESUME));
    }

    @Test
    void anAttemptThatIsToStopBeforeItTookOverEndsTheProcessesFirst() {
        AttemptOrder stop = Orders.stopped(RESUME, StopReason.CANCELLED, 1_000);
        assertThat(decide(List.of(stop), List.of(), live(PauseStatus.PAUSED)))
                .containsExactly(new Action.Stop(ID, new StopRequest(StopReason.CANCELLED, 1_000, NOW + 1_000)));
        assertThat(decide(List.of(stop), List.of(), new LocalState.Ended()))
                .containsExactly(new Action.Refuse(stop, Outcome.CANCELLED, "stopped before it was started"));
    }

    private static LocalState live(PauseStatus standing) {
        return new LocalState.Live(Optional.empty(), 5_000, standing);
    }

    private static SortedMap<UUID, LocalState> locals(LocalState local) {
        return new TreeMap<>(Map.of(ID, local));
    }

    private static List<Action> decide(List<AttemptOrder> orders, List<UUID> paused, LocalState local) {
        return Reconciler.decide(orders, paused, List.of(), locals(local), 1, NOW);
    }
}
