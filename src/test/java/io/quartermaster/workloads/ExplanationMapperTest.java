package io.quartermaster.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.workloads.WorkloadApi.Details;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The sentence of an explanation. */
class ExplanationMapperTest {
    private static final Instant AT = Instant.parse("2026-12-01T02:02:11Z");
    private static final UUID ID = UUID.randomUUID();

    private static WorkloadApi.Reason reason() {
        return new WorkloadApi.Reason(
                "demo",
                "NO_CAPACITY",
                null,
                "1",
                null,
                null,
                "0.25",
                "This workload needs 1 whole GPU in demo; none is free.",
                "Wait until enough GPUs come free in demo.");
    }

    private static WorkloadApi.Preemption preemption(String cause, String right) {
        return new WorkloadApi.Preemption(
                AT, 1, cause, null, new WorkloadApi.Receipt(right, List.of(), List.of(), List.of()));
    }

    private static Details details(
            String state,
            DesiredState desiredState,
            long gpuMilli,
            boolean preemptible,
            List<WorkloadApi.Preemption> preemptions) {
        return details(state, desiredState, gpuMilli, null, preemptible, preemptions);
    }

    private static Details details(
            String state,
            DesiredState desiredState,
            long gpuMilli,
            @Nullable GpuAmount held,
            boolean preemptible,
            List<WorkloadApi.Preemption> preemptions) {
        WorkloadApi.View view = new WorkloadApi.View(
                ID,
                "train",
                WorkloadType.TRAINING,
                "rnd-1gpu",
                "rnd",
                "/rnd",
                "1gpu",
                "ann",
                new GpuAmount(gpuMilli),
                held,
                null,
                50,
                preemptible,
                false,
                null,
                Map.of(),
                state,
                desiredState,
                null,
                1,
                AT,
                null,
                null,
                null,
                null);
        WorkloadApi.Attempt attempt = new WorkloadApi.Attempt(
                UUID.randomUUID(),
                1,
                state.equals("waiting") ? "ended" : state,
                null,
                "demo",
                new GpuAmount(gpuMilli),
                AT,
                AT,
                null,
                preemptions.isEmpty() ? null : "preempted",
                state.equals("stopping") ? AT.plusSeconds(10) : null,
                null,
                null,
                null);
        return new Details(
                view,
                List.of(),
                null,
                null,
                List.of(attempt),
                List.of(),
                state.equals("waiting") ? List.of(reason()) : List.of(),
                AT,
                null,
                preemptions);
    }

    @Test
    void whoWasPreemptedIsToldSoFirstWithTheRuleAndWhatHappensNext() {
        Details waiting = details("waiting", DesiredState.RUN, 1000, true, List.of(preemption("reclaim", "reserved")));
        WorkloadApi.Explanation explanation = ExplanationMapper.stored(waiting, null);
        assertThat(explanation.sentence())
                .isEqualTo("train was stopped at 2026-12-01 02:02:11 UTC during attempt 1: another group took back GPUs"
                        + " that are reserved for it. It is in its queue again and starts again when there is room."
                        + " train waits. This workload needs 1 whole GPU in demo; none is free. Wait until"
                        + " enough GPUs come free in demo.");
        assertThat(explanation.preemption()).isEqualTo(waiting.preemptions().getFirst());
    }

    @Test
    void whatWasStoppedSaysWhereItStandsInItsQueueNow() {
        Details waiting = details("waiting", DesiredState.RUN, 1000, true, List.of(preemption("reclaim", "reserved")));
        assertThat(ExplanationMapper.stored(waiting, new WorkloadApi.Position(0, 0, 1))
                        .sentence())
                .contains("It is first in its queue again and starts again when there is room.");
        assertThat(ExplanationMapper.stored(waiting, new WorkloadApi.Position(1, 1, 2))
                        .sentence())
                .contains("It is in its queue again, behind 1 workload, and starts again when there is room.");
    }

    @Test
    void elasticWorkSaysAllThatItHolds() {
        Details running = details("running", DesiredState.RUN, 1000, new GpuAmount(3000), true, List.of());
        assertThat(ExplanationMapper.withAttempt(running, new WorkloadState.Running(), null)
                        .sentence())
                .isEqualTo("train runs in demo on 3 GPUs.");
    }

    @Test
    void roomWithoutAnAmountSaysThatItDependsOnOthers() {
        WorkloadApi.Relief relief =
                new WorkloadApi.Relief(WorkloadApi.Relief.Change.FREE_ON_ONE_NODE, "demo", null, null, null, null);
        assertThat(relief.inWords())
                .isEqualTo("free enough GPUs on one node in demo (how many depends on waiting work of others)");
    }

    @Test
    void reasonsAndOutlookAreOfOneMomentAndNotWhatWasStoredBefore() {
        Details waiting = details("waiting", DesiredState.RUN, 1000, true, List.of());
        Instant now = AT.plusSeconds(80);
        Reason fresh = new Reason(
                Reason.Code.LIMIT,
                new PoolId("demo"),
                Optional.of(QuotaPath.of("acme", "rnd")),
                new Reason.Numbers(1000, 3000, OptionalLong.of(3000), 5000),
                "This workload needs 1 GPU, and group /rnd holds 3 of at most 3 GPUs in demo.",
                "Wait until work of group /rnd ends.");
        Outlook outlook = new Outlook(
                new WorkloadId(ID.toString()),
                0,
                Optional.empty(),
                List.of(new Outlook.InPool(
                        new PoolId("demo"),
                        Reason.Code.LIMIT,
                        List.of(),
                        0,
                        List.of(
                                new Outlook.Relief(
                                        Outlook.Relief.Kind.RAISE_LIMIT,
                                        Optional.of(QuotaPath.of("acme", "rnd")),
                                        Optional.of(Scope.of(new PoolId("demo"))),
                                        1000,
                                        0),
                                new Outlook.Relief(
                                        Outlook.Relief.Kind.RAISE_MAX_RUNNING,
                                        Optional.of(QuotaPath.of("acme")),
                                        Optional.empty(),
                                        0,
                                        2)),
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        Optional.empty())));
        OutlookSource.Prospect prospect = new OutlookSource.Prospect(
                now,
                OutlookSource.Status.WAITS,
                List.of(fresh),
                Optional.of(outlook),
                Optional.of(now.plusSeconds(60)));

        WorkloadApi.Explanation explanation = ExplanationMapper.waiting(
                waiting, null, prospect, ExplanationMapper.outlook(prospect, Map.of(), Map.of("/rnd", "rnd")));

        assertThat(explanation.reasonsAt()).isEqualTo(now);
        assertThat(Objects.requireNonNull(explanation.outlook()).asOf()).isEqualTo(now);
        assertThat(explanation.reasons()).extracting(WorkloadApi.Reason::code).containsExactly("LIMIT");
        assertThat(explanation.sentence())
                .isEqualTo("train waits. This workload needs 1 GPU, and group /rnd holds 3 of at most 3 GPUs in demo."
                        + " Wait until work of group /rnd ends. To let train start now: raise the limit of"
                        + " group /rnd in demo by 1 GPU, and let 2 more workloads of the tenant run"
                        + " concurrently. Forecast: it starts at 2026-12-01 02:04:31 UTC if running work uses all of"
                        + " its maximum run time and no new work comes first.");
    }

    @Test
    void whatTheNextPlanStartsIsToldSo() {
        Details waiting = details("waiting", DesiredState.RUN, 1000, true, List.of());
        OutlookSource.Prospect prospect = new OutlookSource.Prospect(
                AT, OutlookSource.Status.STARTS, List.of(), Optional.empty(), Optional.empty());
        WorkloadApi.Explanation explanation = ExplanationMapper.waiting(
                waiting, null, prospect, ExplanationMapper.outlook(prospect, Map.of(), Map.of()));
        assertThat(explanation.sentence()).isEqualTo("train waits; the next plan starts it.");
        assertThat(explanation.reasons()).isEmpty();
    }

    @Test
    void whoIsStoppingIsToldUntilWhenAndThatACancellationFollows() {
        Details stopping =
                details("stopping", DesiredState.CANCEL, 1000, true, List.of(preemption("preempt", "priority")));
        assertThat(ExplanationMapper.withAttempt(stopping, new WorkloadState.Stopping(), null)
                        .sentence())
                .isEqualTo("train was asked to stop at 2026-12-01 02:02:11 UTC: a workload of its group with a higher"
                        + " priority needed its place. It has until 2026-12-01 02:02:21 UTC to stop. It is"
                        + " cancelled when it has stopped.");
    }

    @Test
    void workWithoutGpusIsNotSaidToUseThoseOfOthers() {
        WorkloadApi.Explanation explanation = ExplanationMapper.withAttempt(
                details("running", DesiredState.RUN, 0, false, List.of()), new WorkloadState.Running(), "over-quota");
        assertThat(explanation.sentence()).isEqualTo("train runs in demo and uses no GPU.");
        assertThat(explanation.rule()).isNull();
    }

    @Test
    void onlyPreemptibleWorkIsSaidToGiveWay() {
        assertThat(ExplanationMapper.withAttempt(
                                details("running", DesiredState.RUN, 2000, true, List.of()),
                                new WorkloadState.Running(),
                                "over-quota")
                        .sentence())
                .isEqualTo(
                        "train runs in demo on 2 GPUs. It uses GPUs beyond what is reserved for its group, and can be"
                                + " stopped when others with a right to them need them.");
        assertThat(ExplanationMapper.withAttempt(
                                details("running", DesiredState.RUN, 2000, false, List.of()),
                                new WorkloadState.Running(),
                                "over-quota")
                        .sentence())
                .endsWith("It uses GPUs beyond what is reserved for its group.");
    }
}
