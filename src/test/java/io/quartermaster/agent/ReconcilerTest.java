package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.agent.Reconciler.Action;
import io.quartermaster.agent.Reconciler.LocalState;
import io.quartermaster.agent.Reconciler.PauseStatus;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ReconcilerTest {
    private static final long NOW = 1_000_000;
    private static final AttemptOrder RUN = Orders.shell("true");
    private static final AttemptOrder STOP = Orders.stopped(RUN, StopReason.PREEMPTED, 30_000);
    private static final UUID ID = RUN.attemptId();
    private static final LocalState RUNNING = new LocalState.Live(Optional.empty(), 5_000, PauseStatus.CAN_PAUSE);

    @Test
    void startsWhatItHasNoRecordOf() {
        assertThat(decide(List.of(RUN), List.of())).containsExactly(new Action.Start(RUN));
    }

    @Test
    void startsAnAttemptThatIsListedTwiceOnce() {
        assertThat(decide(List.of(RUN, RUN), List.of())).containsExactly(new Action.Start(RUN));
    }

    @Test
    void leavesWhatRunsAndShouldRun() {
        assertThat(decide(List.of(RUN), List.of(), RUNNING)).isEmpty();
    }

    @Test
    void neverStartsWhatHasEnded() {
        assertThat(decide(List.of(RUN), List.of(), new LocalState.Ended())).isEmpty();
    }

    @Test
    void reportsAForgottenAttemptAsLostInsteadOfStartingItAgain() {
        assertThat(decide(List.of(RUN), List.of(), new LocalState.Forgotten()))
                .containsExactly(new Action.Refuse(RUN, Outcome.LOST, "it was here before, and ended"));
    }

    @Test
    void endsWithoutAStartWhatIsToldToStopBeforeItWasHeardOf() {
        assertThat(decide(List.of(STOP), List.of()))
                .containsExactly(new Action.Refuse(STOP, Outcome.PREEMPTED, "stopped before it was started"));
    }

    @Test
    void countsTheGraceFromWhenItHearsOfTheStop() {
        assertThat(decide(List.of(STOP), List.of(), RUNNING))
                .containsExactly(new Action.Stop(ID, new StopRequest(StopReason.PREEMPTED, 30_000, NOW + 30_000)));
    }

    @Test
    void aStopThatIsHeardAfterItsDeadlineHasTheWholeGrace() {
        long whole = ((LocalState.Live) RUNNING).graceMillis();
        AttemptOrder late = Orders.stopped(RUN, StopReason.PREEMPTED, 0);

        assertThat(decide(List.of(late), List.of(), RUNNING))
                .containsExactly(new Action.Stop(ID, new StopRequest(StopReason.PREEMPTED, whole, NOW + whole)));
        assertThat(decide(List.of(late), List.of(), stopping(StopReason.PREEMPTED, NOW + whole)))
                .as("and keeps it")
                .isEmpty();
        assertThat(whole).isPositive();
    }

    @Test
    void aStopThatIsRepeatedDoesNotLengthenTheGrace() {
        LocalState stopping = stopping(StopReason.PREEMPTED, NOW + 10_000);

        assertThat(decide(List.of(STOP), List.of(), stopping)).isEmpty();
    }

    @Test
    void aStopWithLessGraceShortensIt() {
        LocalState stopping = stopping(StopReason.PREEMPTED, NOW + 10_000);
        AttemptOrder sooner = Orders.stopped(RUN, StopReason.PREEMPTED, 2_000);

        assertThat(decide(List.of(sooner), List.of(), stopping))
                .containsExactly(new Action.Stop(ID, new StopRequest(StopReason.PREEMPTED, 2_000, NOW + 2_000)));
    }

    @Test
    void aCancellationTakesTheReasonOfAPreemptionInProgress() {
        LocalState stopping = stopping(StopReason.PREEMPTED, NOW + 10_000);
        AttemptOrder cancelled = Orders.stopped(RUN, StopReason.CANCELLED, 60_000);

        assertThat(decide(List.of(cancelled), List.of(), stopping))
                .containsExactly(new Action.Stop(ID, new StopRequest(StopReason.CANCELLED, 60_000, NOW + 60_000)));
    }

    @Test
    void aStopIsNeverTakenBack() {
        assertThat(decide(List.of(RUN), List.of(), stopping(StopReason.PREEMPTED, NOW + 10_000)))
                .isEmpty();
    }

    @Test
    void stopsWhatIsNotListedWithItsOwnGrace() {
        assertThat(decide(List.of(), List.of(), RUNNING))
                .containsExactly(new Action.Stop(ID, new StopRequest(StopReason.GIVEN_UP, 5_000, NOW + 5_000)));
    }

    @Test
    void forgetsOnlyWhatHasEndedAndWasTakenIn() {
        assertThat(decide(List.of(), List.of(ID), new LocalState.Ended())).containsExactly(new Action.Forget(ID));
        assertThat(decide(List.of(), List.of(), new LocalState.Ended())).isEmpty();
        assertThat(decide(List.of(RUN), List.of(ID), new LocalState.Ended())).isEmpty();
        assertThat(decide(List.of(), List.of(ID), stopping(StopReason.GIVEN_UP, NOW + 10_000)))
                .isEmpty();
    }

    @Test
    void asManyActionsDoneMeansNothingLeftToDo() {
        AttemptOrder other = Orders.shell("true");
        var locals = new TreeMap<UUID, LocalState>();
        List<AttemptOrder> orders = List.of(RUN, Orders.stopped(other, StopReason.TIMED_OUT, 1_000));
        for (Action action : Reconciler.decide(orders, List.of(), List.of(), locals, 1, NOW)) {
            switch (action) {
                case Action.Start(AttemptOrder order) -> locals.put(order.attemptId(), RUNNING);
                case Action.Refuse(AttemptOrder order, Outcome _, String _) ->
                    locals.put(order.attemptId(), new LocalState.Ended());
                case Action.Stop stop -> throw new AssertionError(stop);
                case Action.Pause pause -> throw new AssertionError(pause);
                case Action.Resume resume -> throw new AssertionError(resume);
                case Action.Forget forget -> throw new AssertionError(forget);
            }
        }

        assertThat(Reconciler.decide(orders, List.of(), List.of(), locals, 1, NOW + 100))
                .isEmpty();
    }

    private static LocalState stopping(StopReason reason, long deadlineMillis) {
        return new LocalState.Live(
                Optional.of(new StopRequest(reason, 30_000, deadlineMillis)), 5_000, PauseStatus.CAN_PAUSE);
    }

    private static List<Action> decide(List<AttemptOrder> orders, List<UUID> forget, LocalState... local) {
        var locals = new TreeMap<UUID, LocalState>();
        for (LocalState only : local) {
            locals.put(ID, only);
        }
        return Reconciler.decide(orders, List.of(), forget, locals, 1, NOW);
    }
}
