package io.quartermaster.platform.operations;

import io.quartermaster.platform.TenantId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Long-running work and its progress. {@code error} is that of the last failed try, also while a retry runs. */
public record Operation(
        UUID id,

        @Schema(description = "the tenant that owns the operation; operator for operations of no tenant")
        TenantId tenant,

        @Schema(
                description = "What the operation does.",
                enumeration = {"provision-tenant", "offboard-tenant", "audit-books"})
        String kind,

        State state,
        List<Step> steps,
        @Nullable Failure error,
        int attempts,
        Instant createdAt,
        Instant updatedAt) {

    /** The state of an operation. */
    @Schema(name = "OperationState")
    public enum State {
        PENDING,
        RUNNING,
        SUCCEEDED,
        FAILED
    }

    /** The state of a step. {@code WAITING}: it failed and will be retried. */
    @Schema(name = "OperationStepState")
    public enum StepState {
        PENDING,
        RUNNING,
        WAITING,
        SUCCEEDED,
        FAILED
    }

    /** One step. Its times are those of the last try. */
    @Schema(name = "OperationStep")
    public record Step(
            String name,
            StepState state,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            @Nullable String error) {

        static Step pending(String name) {
            return new Step(name, StepState.PENDING, null, null, null);
        }
    }

    /** The last failure and the time of the retry; without {@code retryAt} there is none. */
    @Schema(name = "OperationFailure")
    public record Failure(
            String step, String message, @Nullable Instant retryAt) {}

    public Operation {
        steps = List.copyOf(steps);
    }

    boolean isDone(String step) {
        return steps.stream().anyMatch(known -> known.name().equals(step) && known.state() == StepState.SUCCEEDED);
    }

    /** The name of the step that runs, or that runs next. */
    String nextStep() {
        return steps.stream()
                .filter(step -> step.state() != StepState.SUCCEEDED)
                .map(Step::name)
                .findFirst()
                .orElse("");
    }

    Operation started(String step, Instant at) {
        return with(step, known -> new Step(step, StepState.RUNNING, at, null, null));
    }

    Operation succeeded(String step, Instant at) {
        return with(step, known -> new Step(step, StepState.SUCCEEDED, known.startedAt(), at, null));
    }

    Operation failed(String step, StepState state, Instant at, String error) {
        return with(step, known -> new Step(step, state, known.startedAt(), at, error));
    }

    /** Changes one step. A step that a newer version of the program adds joins the list when it starts. */
    private Operation with(String step, UnaryOperator<Step> change) {
        List<Step> changed = new ArrayList<>();
        boolean found = false;
        for (Step known : steps) {
            boolean it = known.name().equals(step);
            changed.add(it ? change.apply(known) : known);
            found |= it;
        }
        if (!found) {
            changed.add(change.apply(Step.pending(step)));
        }
        return new Operation(id, tenant, kind, state, changed, error, attempts, createdAt, updatedAt);
    }
}
