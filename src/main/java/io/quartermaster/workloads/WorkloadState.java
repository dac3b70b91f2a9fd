package io.quartermaster.workloads;

/**
 * The state of a workload. Only the leader of the cell changes it. The states of an attempt alone determine which
 * states may follow it.
 *
 * <pre>
 *   held <-> waiting -> starting -> running -> stopping
 *                 ^         |          |          |
 *                 +---------+----------+----------+   after preempted or lost (held, if a hold was requested)
 *                           +----------+----------+-> paused -> starting, or waiting once its processes are to end
 *                           +----------+----------+-> succeeded, failed, cancelled
 * </pre>
 */
public sealed interface WorkloadState {

    /** The word for it in the API and the database. */
    String word();

    /** A state without devices. */
    sealed interface WithoutAttempt extends WorkloadState {}

    /** A state in which the workload's attempt holds devices. It follows the attempt's state. */
    sealed interface WithAttempt extends WorkloadState {

        /** The state after the attempt has ended. */
        default WithoutAttempt ended(
                AttemptOutcome outcome, DesiredState desiredState, AfterPreemption afterPreemption) {
            return switch (outcome) {
                case SUCCEEDED -> new Succeeded();
                case FAILED, OUT_OF_MEMORY, TIMED_OUT -> new Failed();
                case CANCELLED -> new Cancelled();
                case PAUSED -> desiredState == DesiredState.RUN ? new Paused() : requeued(desiredState);
                case LOST -> requeued(desiredState);
                case PREEMPTED ->
                    switch (afterPreemption) {
                        case REQUEUE -> requeued(desiredState);
                        case END -> new Cancelled();
                    };
            };
        }

        private static WithoutAttempt requeued(DesiredState desiredState) {
            return switch (desiredState) {
                case RUN -> new Waiting();
                case HOLD -> new Held();
                case CANCEL -> new Cancelled();
            };
        }
    }

    /** A final state. */
    sealed interface Over extends WithoutAttempt {}

    /** The policy's action on a preempted workload. */
    enum AfterPreemption {
        REQUEUE,
        END
    }

    /** The workload does not start until it is released. */
    record Held() implements WithoutAttempt {
        @Override
        public String word() {
            return "held";
        }
    }

    /** The workload is ready to start. */
    record Waiting() implements WithoutAttempt {
        @Override
        public String word() {
            return "waiting";
        }
    }

    /** Its devices are bound; no report shows yet that its processes run. */
    record Starting() implements WithAttempt {
        @Override
        public String word() {
            return "starting";
        }
    }

    /** Its processes run. */
    record Running() implements WithAttempt {
        @Override
        public String word() {
            return "running";
        }
    }

    /** It was asked to stop, and keeps its devices until it has stopped. */
    record Stopping() implements WithAttempt {
        @Override
        public String word() {
            return "stopping";
        }
    }

    /** Its devices are free; its processes stay on their node, and it waits to resume there. */
    record Paused() implements WithoutAttempt {
        @Override
        public String word() {
            return "paused";
        }
    }

    /** Over: its processes ended successfully. */
    record Succeeded() implements Over {
        @Override
        public String word() {
            return "succeeded";
        }
    }

    /** Over: it failed, or reached its maximum run time. */
    record Failed() implements Over {
        @Override
        public String word() {
            return "failed";
        }
    }

    /** Over: cancelled by its submitter or an admin, or preempted under a policy that ends preempted workloads. */
    record Cancelled() implements Over {
        @Override
        public String word() {
            return "cancelled";
        }
    }

    /** The initial state of a submission. */
    static WithoutAttempt submitted(DesiredState desiredState) {
        return switch (desiredState) {
            case RUN -> new Waiting();
            case HOLD -> new Held();
            case CANCEL -> throw new IllegalArgumentException("a submission cannot begin as cancelled");
        };
    }

    /** The state of a workload whose attempt holds devices. */
    static WithAttempt with(WorkloadAttemptState.Live attempt) {
        return switch (attempt) {
            case WorkloadAttemptState.Bound bound -> new Starting();
            case WorkloadAttemptState.Starting starting -> new Starting();
            case WorkloadAttemptState.Running running -> new Running();
            case WorkloadAttemptState.Stopping stopping -> new Stopping();
        };
    }

    /** Reads the column {@code state}. */
    static WorkloadState of(String word) {
        return switch (word) {
            case "held" -> new Held();
            case "waiting" -> new Waiting();
            case "starting" -> new Starting();
            case "running" -> new Running();
            case "stopping" -> new Stopping();
            case "paused" -> new Paused();
            case "succeeded" -> new Succeeded();
            case "failed" -> new Failed();
            case "cancelled" -> new Cancelled();
            default -> throw new IllegalArgumentException("unknown state of a workload: " + word);
        };
    }
}
