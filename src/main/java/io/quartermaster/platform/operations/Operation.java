package io.quartermaster.platform.operations;

import io.quartermaster.platform.TenantId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Long work, and how far it has come. {@code error} is that of the last failed try, also while it is tried again. */
public record Operation(
        UUID id,

        @Schema(description = "whose it is; operator for what is no tenant's")
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

    /** Where an operation is. */
    @Schema(name = "OperationState")
    public enum State {
        PENDING,
        RUNNING,
        SUCCEEDED,
        FAILED
    }

    /** Where a step is. {@code WAITING}: it failed and is tried again. */
    @Schema(name = "OperationStepState")
    public enum StepState {
        PENDING,
        RUNNING,
        WAITING,
        SUCCEEDED,
        FAILED
    }

    /** One step. Times are of the last try. */
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

    /** What went wrong last, and when it is tried again; never, when {@code retryAt} is absent. */
    @Schema(name = "OperationFailure")
    public record Failure(
            String step, String message, @Nullable Instant retryAt) {}

    public Operation {
        steps = List.copyOf(steps);
    }

    boolean isDone(String step) {
        return steps.stream().anyMatch(known -> known.name().equals(step) && known.state() == StepState.SUCCEEDED);
    }

    /** The name of the step that is at work, or whose turn is next. */
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

    /** A step that came with a newer program joins the list when it is its turn. */
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
