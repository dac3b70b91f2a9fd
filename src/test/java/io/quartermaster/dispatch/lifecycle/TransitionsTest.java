package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.dispatch.Records;

import static io.quartermaster.dispatch.Records.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork.Processes;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Report;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Surplus;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.governance.rules.OnPreemption;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.AttemptState;
import io.quartermaster.workloads.Wish;
import io.quartermaster.workloads.WorkloadState;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The rules of the lifecycle, one by one. */
class TransitionsTest {

    private static final UUID N1 = new UUID(0, 1);
    private static final UUID N2 = new UUID(0, 2);

    @Test
    void aWishIsFollowedAtOnceByWorkThatHoldsNothing() {
        assertThat(Transitions.next(waiting(Wish.RUN), Set.of())).isEqualTo(new Step.Stay());
        assertThat(Transitions.next(waiting(Wish.HOLD), Set.of()))
                .isEqualTo(new Step.Become(new WorkloadState.Held(), Optional.empty()));
        assertThat(Transitions.next(waiting(Wish.CANCEL), Set.of()))
                .isEqualTo(new Step.Become(new WorkloadState.Cancelled(), Optional.of("cancelled on request")));
    }

    @Test
    void anAttemptNeverGoesBack() {
        assertThat(next(Wish.RUN, "bound", report(N1, "starting")))
                .isEqualTo(new Step.Progress(new AttemptState.Starting()));
        assertThat(next(Wish.RUN, "starting", report(N1, "running")))
                .isEqualTo(new Step.Progress(new AttemptState.Running()));
        assertThat(next(Wish.RUN, "running", report(N1, "starting"))).isEqualTo(new Step.Stay());
        assertThat(next(Wish.RUN, "starting")).isEqualTo(new Step.Stay());
    }

    @Test
    void runningWorkKeepsItsDevicesUntilItsExecutorSaysItIsOver() {
        assertThat(next(Wish.CANCEL, "running", report(N1, "running")))
                .isEqualTo(new Step.AskToStop(StopReason.CANCELLED));
        assertThat(next(Wish.CANCEL, "stopping", report(N1, "stopping"))).isEqualTo(new Step.Stay());
        assertThat(next(Wish.CANCEL, "stopping", ended(N1, "cancelled")))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Cancelled()));
    }

    @Test
    void aVictimWaitsAgainAtTheHeadUnlessItsPolicyOrItsOwnerEndsIt() {
        Step again = next(Wish.RUN, "stopping", ended(N1, "preempted"));
        assertThat(again).isInstanceOfSatisfying(Step.End.class, end -> {
            assertThat(end.state()).isEqualTo(new WorkloadState.Waiting());
            assertThat(end.atHead()).isTrue();
        });
        assertThat(next(Wish.HOLD, "stopping", ended(N1, "preempted")))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Held()));
        assertThat(next(Wish.CANCEL, "stopping", ended(N1, "preempted")))
                .isInstanceOfSatisfying(Step.End.class, end -> {
                    assertThat(end.state()).isEqualTo(new WorkloadState.Cancelled());
                    assertThat(end.endReason()).hasValue("cancelled on request");
                });
        Step ended = Transitions.next(
                record(
                        Wish.RUN,
                        OnPreemption.END,
                        Optional.of(attempt("stopping", List.of(N1), ended(N1, "preempted")))),
                Set.of());
        assertThat(ended).isInstanceOfSatisfying(Step.End.class, end -> assertThat(end.state())
                .isEqualTo(new WorkloadState.Cancelled()));
    }

    @Test
    void whatIsMovedGoesOnAtItsNewPlaceWhateverItsPolicySaysOfPreemption() {
        LiveAttempt leaves = attempt("stopping", List.of(N1), ended(N1, "preempted"));
        for (OnPreemption policy : OnPreemption.values()) {
            assertThat(Transitions.next(Records.moving(policy, leaves), Set.of()))
                    .isInstanceOfSatisfying(Step.End.class, end -> {
                        assertThat(end.state()).isEqualTo(new WorkloadState.Waiting());
                        assertThat(end.atHead()).isTrue();
                    });
        }
    }

    @Test
    void workOnALostNodeWaitsAgain() {
        Step step = Transitions.next(
                record(
                        Wish.RUN,
                        OnPreemption.REQUEUE,
                        Optional.of(attempt("running", List.of(N1), report(N1, "running")))),
                Set.of(N1));
        assertThat(step).isInstanceOfSatisfying(Step.End.class, end -> {
            assertThat(end.outcome()).isEqualTo(AttemptOutcome.LOST);
            assertThat(end.state()).isEqualTo(new WorkloadState.Waiting());
        });
    }

    @Test
    void aGangOfWhichAPartIsGoneIsStoppedBeforeAnythingOfItIsFree() {
        LiveAttempt gang = attempt("running", List.of(N1, N2), report(N1, "running"), ended(N2, "failed"));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(gang)), Set.of()))
                .isEqualTo(new Step.AskToStop(StopReason.INCOMPLETE));
        LiveAttempt half = attempt("running", List.of(N1, N2), report(N1, "running"), report(N2, "running"));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(half)), Set.of(N2)))
                .isEqualTo(new Step.AskToStop(StopReason.LOST));
        LiveAttempt over = attempt("stopping", List.of(N1, N2), ended(N1, "cancelled"), ended(N2, "failed"));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(over)), Set.of()))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.outcome()).isEqualTo(AttemptOutcome.FAILED));
    }

    @Test
    void aWorkerThatHasDoneItsPartEndsNobodyElse() {
        LiveAttempt gang = attempt("running", List.of(N1, N2), ended(N1, "succeeded"), report(N2, "running"));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(gang)), Set.of()))
                .isEqualTo(new Step.Stay());
        LiveAttempt over = attempt("running", List.of(N1, N2), ended(N1, "succeeded"), ended(N2, "succeeded"));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(over)), Set.of()))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Succeeded()));
    }

    @Test
    void aGangEndsWhenTheRestHasStoppedAfterANodeWasLost() {
        LiveAttempt over = attempt("stopping", List.of(N1, N2), ended(N1, "lost"), ended(N2, "cancelled"));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(over)), Set.of()))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Waiting()));
    }

    @Test
    void aSurplusWorkerComesAndGoesWhileTheWorkloadGoesOn() {
        LiveAttempt core = attempt("running", List.of(N1), report(N1, "running"));
        assertThat(surplus(core, attempt("bound", List.of(N2), report(N2, "running")), Set.of()))
                .isEqualTo(new SurplusStep.Progress(new AttemptState.Running()));
        assertThat(surplus(core, attempt("running", List.of(N2), ended(N2, "failed")), Set.of()))
                .isInstanceOfSatisfying(
                        SurplusStep.End.class, end -> assertThat(end.forGood()).isTrue());
        assertThat(surplus(core, attempt("running", List.of(N2), report(N2, "running")), Set.of(N2)))
                .isInstanceOfSatisfying(
                        SurplusStep.End.class, end -> assertThat(end.forGood()).isFalse());
        assertThat(surplus(core, attempt("stopping", List.of(N2), report(N2, "stopping")), Set.of()))
                .isEqualTo(new SurplusStep.Stay());
        LiveAttempt stopping = core.told(StopReason.CANCELLED, 1);
        assertThat(surplus(stopping, attempt("running", List.of(N2), report(N2, "running")), Set.of()))
                .isEqualTo(new SurplusStep.AskToStop(StopReason.CANCELLED));
    }

    @Test
    void theWorkloadIsOverOnlyAfterItsSurplusWorkers() {
        SurplusWorker worker = new SurplusWorker(1, attempt("running", List.of(N2), report(N2, "running")));
        LiveAttempt core =
                attempt("running", List.of(N1), ended(N1, "succeeded")).with(Surplus.NONE.and(worker));
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(core)), Set.of()))
                .isEqualTo(new Step.AskToStop(StopReason.INCOMPLETE));
        LiveAttempt stopping = core.told(StopReason.INCOMPLETE, 1);
        assertThat(Transitions.next(record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(stopping)), Set.of()))
                .isEqualTo(new Step.Stay());
        assertThat(Transitions.next(
                        record(Wish.RUN, OnPreemption.REQUEUE, Optional.of(stopping.with(Surplus.NONE))), Set.of()))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Succeeded()));
    }

    private static SurplusStep surplus(LiveAttempt core, LiveAttempt worker, Set<UUID> lost) {
        return Transitions.next(core, new SurplusWorker(1, worker), lost);
    }

    @Test
    void aPausedVictimKeepsItsPlaceInTheLineAndItsProcesses() {
        assertThat(next(Wish.RUN, "stopping", ended(N1, "paused"))).isInstanceOfSatisfying(Step.End.class, end -> {
            assertThat(end.outcome()).isEqualTo(AttemptOutcome.PAUSED);
            assertThat(end.state()).isEqualTo(new WorkloadState.Paused());
            assertThat(end.atHead()).isTrue();
        });
        assertThat(next(Wish.HOLD, "stopping", ended(N1, "paused")))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Held()));
        assertThat(next(Wish.CANCEL, "stopping", ended(N1, "paused")))
                .isInstanceOfSatisfying(
                        Step.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Cancelled()));
    }

    @Test
    void pausedWorkStaysAsLongAsItsProcessesCanGoOnAndItIsToRun() {
        assertThat(paused("paused", Wish.RUN, Processes.STAND_STILL, true)).isEqualTo(new Step.Stay());
        Step starts = new Step.Become(new WorkloadState.Waiting(), Optional.empty());
        assertThat(paused("paused", Wish.RUN, Processes.STAND_STILL, false)).isEqualTo(starts);
        assertThat(paused("paused", Wish.RUN, Processes.BEING_ENDED, true)).isEqualTo(starts);
        assertThat(paused("paused", Wish.RUN, Processes.OVER, true)).isEqualTo(starts);
        assertThat(paused("paused", Wish.HOLD, Processes.STAND_STILL, true))
                .isEqualTo(new Step.Become(new WorkloadState.Held(), Optional.empty()));
        assertThat(paused("paused", Wish.CANCEL, Processes.STAND_STILL, true))
                .isEqualTo(new Step.Become(new WorkloadState.Cancelled(), Optional.of("cancelled on request")));
    }

    @Test
    void workThatAsksForAnotherAmountThanItsProcessesHeldDoesNotGoOn() {
        WorkloadRecord larger = Records.workload(
                        new TenantId("acme"), 4, "paused", Wish.RUN, 2_000, OnPreemption.PAUSE, Optional.empty())
                .leaving(Optional.of(left(Processes.STAND_STILL, true)));
        assertThat(Transitions.next(larger, Set.of()))
                .isEqualTo(new Step.Become(new WorkloadState.Waiting(), Optional.empty()));
    }

    @Test
    void whoseProcessesAreToEndWaitsUntilTheyAreOver() {
        assertThat(paused("waiting", Wish.RUN, Processes.STAND_STILL, true)).isEqualTo(new Step.Stay());
        assertThat(paused("waiting", Wish.RUN, Processes.BEING_ENDED, true)).isEqualTo(new Step.Stay());
        assertThat(paused("waiting", Wish.RUN, Processes.OVER, true)).isEqualTo(new Step.Left());
        assertThat(paused("held", Wish.HOLD, Processes.OVER, true)).isEqualTo(new Step.Left());
        WorkloadRecord leaving = Records.workload("waiting", Wish.RUN, OnPreemption.PAUSE, Optional.empty())
                .leaving(Optional.of(left(Processes.BEING_ENDED, true)));
        assertThat(leaving.isLeaving()).isTrue();
    }

    private static Step paused(String state, Wish wish, Processes processes, boolean mayStay) {
        return Transitions.next(
                Records.workload(state, wish, OnPreemption.PAUSE, Optional.empty())
                        .leaving(Optional.of(left(processes, mayStay))),
                Set.of());
    }

    private static PausedWork left(Processes processes, boolean mayStay) {
        return new PausedWork(new UUID(1, 1), N1, Records.POOL, 1_000, 5_000, processes, mayStay);
    }

    @Test
    void whatIsOverStaysOver() {
        WorkloadRecord over = Records.workload("succeeded", Wish.CANCEL, OnPreemption.REQUEUE, Optional.empty());
        assertThat(Transitions.next(over, Set.of())).isEqualTo(new Step.Stay());
    }

    private static Step next(Wish wish, String state, Report... reports) {
        return Transitions.next(
                record(wish, OnPreemption.REQUEUE, Optional.of(attempt(state, List.of(N1), reports))), Set.of());
    }

    private static WorkloadRecord waiting(Wish wish) {
        return record(wish, OnPreemption.REQUEUE, Optional.empty());
    }

    private static Report report(UUID node, String state) {
        return new Report(
                node,
                AttemptState.of(state, Optional.empty()),
                Optional.empty(),
                "",
                OptionalLong.empty(),
                OptionalLong.empty());
    }

    private static Report ended(UUID node, String outcome) {
        return new Report(
                node,
                new AttemptState.Ended(AttemptOutcome.of(outcome)),
                Optional.of(0),
                "",
                OptionalLong.empty(),
                OptionalLong.empty());
    }

    private static WorkloadRecord record(Wish wish, OnPreemption onPreemption, Optional<LiveAttempt> attempt) {
        return Records.workload(attempt.isPresent() ? "running" : "waiting", wish, onPreemption, attempt);
    }
}
