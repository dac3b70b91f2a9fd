package io.quartermaster.workloads;

/**
 * Where a workload is. Only the leader of the cell takes these steps; what may follow an attempt, only its states offer.
 *
 * <pre>
 *   held <-> waiting -> starting -> running -> stopping
 *                 ^         |          |          |
 *                 +---------+----------+----------+   after preempted or lost (held, if that was wished meanwhile)
 *                           +----------+----------+-> paused -> starting, or waiting once its processes are to end
 *                           +----------+----------+-> succeeded, failed, cancelled
 * </pre>
 */
public sealed interface WorkloadState {

    /** As the API and the database write it. */
    String word();

    /** One that holds no devices. */
    sealed interface WithoutAttempt extends WorkloadState {}

    /** One whose attempt holds devices. Its state follows the attempt's. */
    sealed interface WithAttempt extends WorkloadState {

        /** What becomes of it when its attempt has ended. */
        default WithoutAttempt ended(
                AttemptOutcome outcome, DesiredState desiredState, AfterPreemption afterPreemption) {
            return switch (outcome) {
                case SUCCEEDED -> new Succeeded();
                case FAILED, OUT_OF_MEMORY, TIMED_OUT -> new Failed();
                case CANCELLED -> new Cancelled();
                case PAUSED -> desiredState == DesiredState.RUN ? new Paused() : again(desiredState);
                case LOST -> again(desiredState);
                case PREEMPTED ->
                    switch (afterPreemption) {
                        case REQUEUE -> again(desiredState);
                        case END -> new Cancelled();
                    };
            };
        }

        private static WithoutAttempt again(DesiredState desiredState) {
            return switch (desiredState) {
                case RUN -> new Waiting();
                case HOLD -> new Held();
                case CANCEL -> new Cancelled();
            };
        }
    }

    /** One that will never change again. */
    sealed interface Over extends WithoutAttempt {}

    /** Whether the policy lets a preempted workload try again. */
    enum AfterPreemption {
        REQUEUE,
        END
    }

    /** Not to be started until it is released. */
    record Held() implements WithoutAttempt {
        @Override
        public String word() {
            return "held";
        }
    }

    /** Wants to start. */
    record Waiting() implements WithoutAttempt {
        @Override
        public String word() {
            return "waiting";
        }
    }

    /** Its devices are bound; its processes are not known to run yet. */
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

    /** Told to stop; keeps its devices until it is gone. */
    record Stopping() implements WithAttempt {
        @Override
        public String word() {
            return "stopping";
        }
    }

    /** Its devices are free; its processes stay on their node, and it waits to go on there. */
    record Paused() implements WithoutAttempt {
        @Override
        public String word() {
            return "paused";
        }
    }

    /** Over: it did what it was submitted for. */
    record Succeeded() implements Over {
        @Override
        public String word() {
            return "succeeded";
        }
    }

    /** Over: it failed, or ran for its maximum run time. */
    record Failed() implements Over {
        @Override
        public String word() {
            return "failed";
        }
    }

    /** Over: as its submitter or an admin wished, or preempted where the policy ends what is preempted. */
    record Cancelled() implements Over {
        @Override
        public String word() {
            return "cancelled";
        }
    }

    /** The state a submission begins in. */
    static WithoutAttempt submitted(DesiredState desiredState) {
        return switch (desiredState) {
            case RUN -> new Waiting();
            case HOLD -> new Held();
            case CANCEL -> throw new IllegalArgumentException("nothing is submitted cancelled");
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
            default -> throw new IllegalArgumentException("no state of a workload: " + word);
        };
    }
}
