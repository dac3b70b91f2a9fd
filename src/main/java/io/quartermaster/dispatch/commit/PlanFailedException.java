package io.quartermaster.dispatch.commit;

import java.util.Optional;
import java.util.UUID;

/**
 * A plan that cannot be made or cannot be written. Reports and requests are never the cause: they state what happened
 * and what is wanted, and a rebuilt engine reads both from the tables. The cause is the engine, or the stored state of
 * a workload or a tenant.
 */
public final class PlanFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Optional<UUID> blamed;

    private PlanFailedException(String message, Throwable cause, Optional<UUID> blamed) {
        super(message, cause);
        this.blamed = blamed;
    }

    /**
     * A decision that contradicts the tables.
     *
     * @param blamed the workload for which the decision is made; without it the plan should not contain the decision
     */
    static PlanFailedException invalidDecision(String message, UUID blamed) {
        return new PlanFailedException(message, new IllegalStateException(message), Optional.of(blamed));
    }

    public static PlanFailedException of(Throwable cause) {
        return cause instanceof PlanFailedException failure
                ? failure
                : new PlanFailedException("the plan failed: " + cause, cause, Optional.empty());
    }

    public Optional<UUID> blamed() {
        return blamed;
    }
}
