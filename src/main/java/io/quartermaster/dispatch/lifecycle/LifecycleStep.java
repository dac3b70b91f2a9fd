package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import java.util.Optional;

/** The next step of one workload, from its desired state and its reports. */
public sealed interface LifecycleStep {

    /** No step. */
    record NoStep() implements LifecycleStep {}

    /** The workload waits, is held, or is over without holding devices again. */
    record ChangeState(WorkloadState.WithoutAttempt state, Optional<String> endReason) implements LifecycleStep {}

    /** The workload keeps its state; its paused processes are over. */
    record PauseEnded() implements LifecycleStep {}

    /** The attempt has progressed. */
    record Progress(WorkloadAttemptState.Wanted state) implements LifecycleStep {}

    /** The attempt is asked to stop, and keeps its devices until it has stopped. */
    record AskToStop(AttemptStopReason reason) implements LifecycleStep {}

    /** The stopping attempt gets less time to stop. */
    record Shorten(long deadlineMillis) implements LifecycleStep {}

    /**
     * The attempt is over and its devices are free.
     *
     * @param outcome of the attempt
     * @param state of the workload from now on
     * @param atHead whether it starts before other workloads of its group and priority
     */
    record End(
            AttemptOutcome outcome,
            Optional<Integer> exitCode,
            String message,
            WorkloadState.WithoutAttempt state,
            Optional<String> endReason,
            boolean atHead)
            implements LifecycleStep {}
}
