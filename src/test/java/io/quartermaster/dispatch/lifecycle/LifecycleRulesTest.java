package io.quartermaster.dispatch.lifecycle;

import static io.quartermaster.dispatch.Records.attempt;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.Records;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork.Processes;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Report;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Surplus;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.DesiredState;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The rules of the lifecycle, one by one. */
class LifecycleRulesTest {

    private static final UUID N1 = new UUID(0, 1);
    private static final UUID N2 = new UUID(0, 2);

    @Test
    void aWishIsFollowedAtOnceByWorkThatHoldsNothing() {
        assertThat(LifecycleRules.next(waiting(DesiredState.RUN), Set.of())).isEqualTo(new LifecycleStep.NoStep());
        assertThat(LifecycleRules.next(waiting(DesiredState.HOLD), Set.of()))
                .isEqualTo(new LifecycleStep.ChangeState(new WorkloadState.Held(), Optional.empty()));
        assertThat(LifecycleRules.next(waiting(DesiredState.CANCEL), Set.of()))
                .isEqualTo(new LifecycleStep.ChangeState(
                        new WorkloadState.Cancelled(), Optional.of("cancelled on request")));
    }

    @Test
    void anAttemptNeverGoesBack() {
        assertThat(next(DesiredState.RUN, "bound", report(N1, "starting")))
                .isEqualTo(new LifecycleStep.Progress(new WorkloadAttemptState.Starting()));
        assertThat(next(DesiredState.RUN, "starting", report(N1, "running")))
                .isEqualTo(new LifecycleStep.Progress(new WorkloadAttemptState.Running()));
        assertThat(next(DesiredState.RUN, "running", report(N1, "starting"))).isEqualTo(new LifecycleStep.NoStep());
        assertThat(next(DesiredState.RUN, "starting")).isEqualTo(new LifecycleStep.NoStep());
    }

    @Test
    void runningWorkKeepsItsDevicesUntilItsExecutorSaysItIsOver() {
        assertThat(next(DesiredState.CANCEL, "running", report(N1, "running")))
                .isEqualTo(new LifecycleStep.AskToStop(AttemptStopReason.CANCELLED));
        assertThat(next(DesiredState.CANCEL, "stopping", report(N1, "stopping")))
                .isEqualTo(new LifecycleStep.NoStep());
        assertThat(next(DesiredState.CANCEL, "stopping", ended(N1, "cancelled")))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> assertThat(end.state())
                        .isEqualTo(new WorkloadState.Cancelled()));
    }

    @Test
    void aVictimWaitsAgainAtTheHeadUnlessItsPolicyOrItsOwnerEndsIt() {
        LifecycleStep again = next(DesiredState.RUN, "stopping", ended(N1, "preempted"));
        assertThat(again).isInstanceOfSatisfying(LifecycleStep.End.class, end -> {
            assertThat(end.state()).isEqualTo(new WorkloadState.Waiting());
            assertThat(end.atHead()).isTrue();
        });
        assertThat(next(DesiredState.HOLD, "stopping", ended(N1, "preempted")))
                .isInstanceOfSatisfying(
                        LifecycleStep.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Held()));
        assertThat(next(DesiredState.CANCEL, "stopping", ended(N1, "preempted")))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> {
                    assertThat(end.state()).isEqualTo(new WorkloadState.Cancelled());
                    assertThat(end.endReason()).hasValue("cancelled on request");
                });
        LifecycleStep ended = LifecycleRules.next(
                record(
                        DesiredState.RUN,
                        PreemptionAction.END,
                        Optional.of(attempt("stopping", List.of(N1), ended(N1, "preempted")))),
                Set.of());
        assertThat(ended).isInstanceOfSatisfying(LifecycleStep.End.class, end -> assertThat(end.state())
                .isEqualTo(new WorkloadState.Cancelled()));
    }

    @Test
    void whatIsMovedGoesOnAtItsNewPlaceWhateverItsPolicySaysOfPreemption() {
        LiveAttempt leaves = attempt("stopping", List.of(N1), ended(N1, "preempted"));
        for (PreemptionAction policy : PreemptionAction.values()) {
            assertThat(LifecycleRules.next(Records.moving(policy, leaves), Set.of()))
                    .isInstanceOfSatisfying(LifecycleStep.End.class, end -> {
                        assertThat(end.state()).isEqualTo(new WorkloadState.Waiting());
                        assertThat(end.atHead()).isTrue();
                    });
        }
    }

    @Test
    void workOnALostNodeWaitsAgain() {
        LifecycleStep lifecycleStep = LifecycleRules.next(
                record(
                        DesiredState.RUN,
                        PreemptionAction.REQUEUE,
                        Optional.of(attempt("running", List.of(N1), report(N1, "running")))),
                Set.of(N1));
        assertThat(lifecycleStep).isInstanceOfSatisfying(LifecycleStep.End.class, end -> {
            assertThat(end.outcome()).isEqualTo(AttemptOutcome.LOST);
            assertThat(end.state()).isEqualTo(new WorkloadState.Waiting());
        });
    }

    @Test
    void aGangOfWhichAPartIsGoneIsStoppedBeforeAnythingOfItIsFree() {
        LiveAttempt gang = attempt("running", List.of(N1, N2), report(N1, "running"), ended(N2, "failed"));
        assertThat(LifecycleRules.next(record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(gang)), Set.of()))
                .isEqualTo(new LifecycleStep.AskToStop(AttemptStopReason.INCOMPLETE));
        LiveAttempt half = attempt("running", List.of(N1, N2), report(N1, "running"), report(N2, "running"));
        assertThat(LifecycleRules.next(
                        record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(half)), Set.of(N2)))
                .isEqualTo(new LifecycleStep.AskToStop(AttemptStopReason.LOST));
        LiveAttempt over = attempt("stopping", List.of(N1, N2), ended(N1, "cancelled"), ended(N2, "failed"));
        assertThat(LifecycleRules.next(record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(over)), Set.of()))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> assertThat(end.outcome())
                        .isEqualTo(AttemptOutcome.FAILED));
    }

    @Test
    void aWorkerThatHasDoneItsPartEndsNobodyElse() {
        LiveAttempt gang = attempt("running", List.of(N1, N2), ended(N1, "succeeded"), report(N2, "running"));
        assertThat(LifecycleRules.next(record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(gang)), Set.of()))
                .isEqualTo(new LifecycleStep.NoStep());
        LiveAttempt over = attempt("running", List.of(N1, N2), ended(N1, "succeeded"), ended(N2, "succeeded"));
        assertThat(LifecycleRules.next(record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(over)), Set.of()))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> assertThat(end.state())
                        .isEqualTo(new WorkloadState.Succeeded()));
    }

    @Test
    void aGangEndsWhenTheRestHasStoppedAfterANodeWasLost() {
        LiveAttempt over = attempt("stopping", List.of(N1, N2), ended(N1, "lost"), ended(N2, "cancelled"));
        assertThat(LifecycleRules.next(record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(over)), Set.of()))
                .isInstanceOfSatisfying(
                        LifecycleStep.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Waiting()));
    }

    @Test
    void aSurplusWorkerComesAndGoesWhileTheWorkloadGoesOn() {
        LiveAttempt core = attempt("running", List.of(N1), report(N1, "running"));
        assertThat(surplus(core, attempt("bound", List.of(N2), report(N2, "running")), Set.of()))
                .isEqualTo(new SurplusStep.Progress(new WorkloadAttemptState.Running()));
        assertThat(surplus(core, attempt("running", List.of(N2), ended(N2, "failed")), Set.of()))
                .isInstanceOfSatisfying(
                        SurplusStep.End.class, end -> assertThat(end.isFinal()).isTrue());
        assertThat(surplus(core, attempt("running", List.of(N2), report(N2, "running")), Set.of(N2)))
                .isInstanceOfSatisfying(
                        SurplusStep.End.class, end -> assertThat(end.isFinal()).isFalse());
        assertThat(surplus(core, attempt("stopping", List.of(N2), report(N2, "stopping")), Set.of()))
                .isEqualTo(new SurplusStep.NoStep());
        LiveAttempt stopping = core.withStop(AttemptStopReason.CANCELLED, 1);
        assertThat(surplus(stopping, attempt("running", List.of(N2), report(N2, "running")), Set.of()))
                .isEqualTo(new SurplusStep.AskToStop(AttemptStopReason.CANCELLED));
    }

    @Test
    void theWorkloadIsOverOnlyAfterItsSurplusWorkers() {
        SurplusWorker worker = new SurplusWorker(1, attempt("running", List.of(N2), report(N2, "running")));
        LiveAttempt core =
                attempt("running", List.of(N1), ended(N1, "succeeded")).with(Surplus.NONE.plus(worker));
        assertThat(LifecycleRules.next(record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(core)), Set.of()))
                .isEqualTo(new LifecycleStep.AskToStop(AttemptStopReason.INCOMPLETE));
        LiveAttempt stopping = core.withStop(AttemptStopReason.INCOMPLETE, 1);
        assertThat(LifecycleRules.next(
                        record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(stopping)), Set.of()))
                .isEqualTo(new LifecycleStep.NoStep());
        assertThat(LifecycleRules.next(
                        record(DesiredState.RUN, PreemptionAction.REQUEUE, Optional.of(stopping.with(Surplus.NONE))),
                        Set.of()))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> assertThat(end.state())
                        .isEqualTo(new WorkloadState.Succeeded()));
    }

    private static SurplusStep surplus(LiveAttempt core, LiveAttempt worker, Set<UUID> lost) {
        return LifecycleRules.next(core, new SurplusWorker(1, worker), lost);
    }

    @Test
    void aPausedVictimKeepsItsPlaceInTheLineAndItsProcesses() {
        assertThat(next(DesiredState.RUN, "stopping", ended(N1, "paused")))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> {
                    assertThat(end.outcome()).isEqualTo(AttemptOutcome.PAUSED);
                    assertThat(end.state()).isEqualTo(new WorkloadState.Paused());
                    assertThat(end.atHead()).isTrue();
                });
        assertThat(next(DesiredState.HOLD, "stopping", ended(N1, "paused")))
                .isInstanceOfSatisfying(
                        LifecycleStep.End.class, end -> assertThat(end.state()).isEqualTo(new WorkloadState.Held()));
        assertThat(next(DesiredState.CANCEL, "stopping", ended(N1, "paused")))
                .isInstanceOfSatisfying(LifecycleStep.End.class, end -> assertThat(end.state())
                        .isEqualTo(new WorkloadState.Cancelled()));
    }

    @Test
    void pausedWorkStaysAsLongAsItsProcessesCanGoOnAndItIsToRun() {
        assertThat(paused("paused", DesiredState.RUN, Processes.SUSPENDED, true))
                .isEqualTo(new LifecycleStep.NoStep());
        LifecycleStep starts = new LifecycleStep.ChangeState(new WorkloadState.Waiting(), Optional.empty());
        assertThat(paused("paused", DesiredState.RUN, Processes.SUSPENDED, false))
                .isEqualTo(starts);
        assertThat(paused("paused", DesiredState.RUN, Processes.ENDING, true)).isEqualTo(starts);
        assertThat(paused("paused", DesiredState.RUN, Processes.ENDED, true)).isEqualTo(starts);
        assertThat(paused("paused", DesiredState.HOLD, Processes.SUSPENDED, true))
                .isEqualTo(new LifecycleStep.ChangeState(new WorkloadState.Held(), Optional.empty()));
        assertThat(paused("paused", DesiredState.CANCEL, Processes.SUSPENDED, true))
                .isEqualTo(new LifecycleStep.ChangeState(
                        new WorkloadState.Cancelled(), Optional.of("cancelled on request")));
    }

    @Test
    void workThatAsksForAnotherAmountThanItsProcessesHeldDoesNotGoOn() {
        WorkloadRecord larger = Records.workload(
                        new TenantId("acme"),
                        4,
                        "paused",
                        DesiredState.RUN,
                        2_000,
                        PreemptionAction.PAUSE,
                        Optional.empty())
                .leaving(Optional.of(left(Processes.SUSPENDED, true)));
        assertThat(LifecycleRules.next(larger, Set.of()))
                .isEqualTo(new LifecycleStep.ChangeState(new WorkloadState.Waiting(), Optional.empty()));
    }

    @Test
    void whoseProcessesAreToEndWaitsUntilTheyAreOver() {
        assertThat(paused("waiting", DesiredState.RUN, Processes.SUSPENDED, true))
                .isEqualTo(new LifecycleStep.NoStep());
        assertThat(paused("waiting", DesiredState.RUN, Processes.ENDING, true)).isEqualTo(new LifecycleStep.NoStep());
        assertThat(paused("waiting", DesiredState.RUN, Processes.ENDED, true))
                .isEqualTo(new LifecycleStep.PauseEnded());
        assertThat(paused("held", DesiredState.HOLD, Processes.ENDED, true)).isEqualTo(new LifecycleStep.PauseEnded());
        WorkloadRecord leaving = Records.workload("waiting", DesiredState.RUN, PreemptionAction.PAUSE, Optional.empty())
                .leaving(Optional.of(left(Processes.ENDING, true)));
        assertThat(leaving.isLeaving()).isTrue();
    }

    @Test
    void pausedWorkThatMovedToAProfileWithoutItsPoolDoesNotResumeThere() {
        PausedWork elsewhere =
                new PausedWork(new UUID(1, 1), N1, new UUID(2, 99), 1_000, 5_000, Processes.SUSPENDED, true);

        assertThat(LifecycleRules.next(
                        Records.workload("paused", DesiredState.RUN, PreemptionAction.PAUSE, Optional.empty())
                                .leaving(Optional.of(elsewhere)),
                        Set.of()))
                .isEqualTo(new LifecycleStep.ChangeState(new WorkloadState.Waiting(), Optional.empty()));
    }

    private static LifecycleStep paused(String state, DesiredState desiredState, Processes processes, boolean mayStay) {
        return LifecycleRules.next(
                Records.workload(state, desiredState, PreemptionAction.PAUSE, Optional.empty())
                        .leaving(Optional.of(left(processes, mayStay))),
                Set.of());
    }

    private static PausedWork left(Processes processes, boolean mayStay) {
        return new PausedWork(new UUID(1, 1), N1, Records.POOL, 1_000, 5_000, processes, mayStay);
    }

    @Test
    void whatIsOverStaysOver() {
        WorkloadRecord over =
                Records.workload("succeeded", DesiredState.CANCEL, PreemptionAction.REQUEUE, Optional.empty());
        assertThat(LifecycleRules.next(over, Set.of())).isEqualTo(new LifecycleStep.NoStep());
    }

    private static LifecycleStep next(DesiredState desiredState, String state, Report... reports) {
        return LifecycleRules.next(
                record(desiredState, PreemptionAction.REQUEUE, Optional.of(attempt(state, List.of(N1), reports))),
                Set.of());
    }

    private static WorkloadRecord waiting(DesiredState desiredState) {
        return record(desiredState, PreemptionAction.REQUEUE, Optional.empty());
    }

    private static Report report(UUID node, String state) {
        return new Report(
                node,
                WorkloadAttemptState.of(state, Optional.empty()),
                Optional.empty(),
                "",
                OptionalLong.empty(),
                OptionalLong.empty());
    }

    private static Report ended(UUID node, String outcome) {
        return new Report(
                node,
                new WorkloadAttemptState.Ended(AttemptOutcome.of(outcome)),
                Optional.of(0),
                "",
                OptionalLong.empty(),
                OptionalLong.empty());
    }

    private static WorkloadRecord record(
            DesiredState desiredState, PreemptionAction preemptionAction, Optional<LiveAttempt> attempt) {
        return Records.workload(attempt.isPresent() ? "running" : "waiting", desiredState, preemptionAction, attempt);
    }
}
