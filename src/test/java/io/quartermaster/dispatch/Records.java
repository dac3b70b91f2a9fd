package io.quartermaster.dispatch;

import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.lifecycle.RetryBackoff;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Device;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Report;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Surplus;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Terms;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.DesiredState;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** Workloads as the tables would have them. */
public final class Records {

    public static final UUID POOL = new UUID(2, 2);
    static final UUID OTHER_POOL = new UUID(2, 3);

    private Records() {}

    public static LiveAttempt attempt(String state, List<UUID> nodes, Report... reports) {
        List<Device> devices = new ArrayList<>();
        nodes.forEach(node ->
                devices.add(new Device(devices.size(), Optional.of(node), OptionalLong.of(0), 1000, Optional.empty())));
        return new LiveAttempt(
                new UUID(1, 1),
                1,
                (WorkloadAttemptState.Live) WorkloadAttemptState.of(state, Optional.empty()),
                POOL,
                1000L * nodes.size(),
                0,
                false,
                OptionalLong.empty(),
                state.equals("stopping") ? Optional.of(AttemptStopReason.PREEMPTED) : Optional.empty(),
                OptionalLong.empty(),
                devices,
                List.of(reports),
                Surplus.NONE);
    }

    public static WorkloadRecord workload(
            String state, DesiredState desiredState, PreemptionAction preemptionAction, Optional<LiveAttempt> attempt) {
        return workload(new TenantId("acme"), 4, state, desiredState, 1_000, preemptionAction, attempt);
    }

    /** A waiting workload; its number gives its id and its place in the order. */
    public static WorkloadRecord waiting(TenantId tenant, long number, long gpuMilli) {
        return workload(
                tenant, number, "waiting", DesiredState.RUN, gpuMilli, PreemptionAction.REQUEUE, Optional.empty());
    }

    public static WorkloadRecord workload(
            TenantId tenant,
            long number,
            String state,
            DesiredState desiredState,
            long gpuMilli,
            PreemptionAction preemptionAction,
            Optional<LiveAttempt> attempt) {
        return workload(
                tenant,
                number,
                state,
                desiredState,
                terms(gpuMilli, preemptionAction, false),
                attempt,
                false,
                Optional.empty());
    }

    /** A workload in a held queue. */
    static WorkloadRecord inHeldQueue(
            String state, Optional<LiveAttempt> attempt, boolean atHead, Optional<String> nomination) {
        Terms terms = terms(1_000, PreemptionAction.REQUEUE, true);
        return workload(new TenantId("acme"), 4, state, DesiredState.RUN, terms, attempt, atHead, nomination);
    }

    /** A workload that moves to its nominated place. */
    public static WorkloadRecord moving(PreemptionAction preemptionAction, LiveAttempt attempt) {
        Terms terms = terms(1_000, preemptionAction, false);
        return workload(
                new TenantId("acme"),
                4,
                "stopping",
                DesiredState.RUN,
                terms,
                Optional.of(attempt),
                false,
                Optional.of("{}"));
    }

    private static Terms terms(long gpuMilli, PreemptionAction preemptionAction, boolean queueHeld) {
        return new Terms(
                new UUID(3, 1),
                "/rnd",
                preemptionAction,
                1_000,
                new UUID(3, 2),
                queueHeld,
                true,
                new UUID(3, 3),
                "1gpu",
                "rnd-1gpu",
                Profile.gpus(gpuMilli, 1, null, null),
                List.of(gpuMilli, gpuMilli),
                1,
                1,
                0,
                0,
                Map.of(),
                Profile.Topology.ANY,
                List.of(POOL, OTHER_POOL),
                false);
    }

    private static WorkloadRecord workload(
            TenantId tenant,
            long number,
            String state,
            DesiredState desiredState,
            Terms terms,
            Optional<LiveAttempt> attempt,
            boolean atHead,
            Optional<String> nomination) {
        return new WorkloadRecord(
                tenant,
                new UUID(4, number),
                number,
                terms,
                new WorkloadRecord.Submitter("7c1b", "somebody"),
                50,
                true,
                false,
                OptionalLong.empty(),
                0,
                desiredState,
                OptionalLong.empty(),
                WorkloadState.of(state),
                attempt.isPresent() ? 1 : 0,
                atHead ? OptionalLong.of(0) : OptionalLong.empty(),
                OptionalLong.empty(),
                RetryBackoff.NONE,
                attempt,
                Optional.empty(),
                nomination);
    }
}
