package io.quartermaster.dispatch.lifecycle;

import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import java.util.Optional;

/** What follows for one workload from the wishes and reports about it. */
public sealed interface LifecycleStep {

    /** Nothing. */
    record Stay() implements LifecycleStep {}

    /** It waits, is held, or is over without ever holding devices again. */
    record Become(WorkloadState.WithoutAttempt state, Optional<String> endReason) implements LifecycleStep {}

    /** It stays what it is; the paused processes that it left behind are over. */
    record Left() implements LifecycleStep {}

    /** Its attempt got further. */
    record Progress(WorkloadAttemptState.Wanted state) implements LifecycleStep {}

    /** Its attempt is told to stop and keeps its devices until it has. */
    record AskToStop(AttemptStopReason reason) implements LifecycleStep {}

    /** Its attempt, which is stopping, is given less time for that. */
    record Shorten(long deadlineMillis) implements LifecycleStep {}

    /**
     * Its attempt is over and its devices are free.
     *
     * @param outcome of the attempt
     * @param state what the workload is from now on
     * @param atHead whether it goes before others of its group and priority
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
