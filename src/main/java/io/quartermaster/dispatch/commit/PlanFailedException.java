package io.quartermaster.dispatch.commit;

import java.util.Optional;
import java.util.UUID;

/**
 * A plan that cannot be made, or not be written. Reports and requests are never to blame for it: they say what happened and what is wanted,
 * and an engine that is built anew reads both from the tables. To blame is the engine, or what is stored of a workload or a tenant.
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
     * @param blamed without which workload the plan is expected to do without this decision: that for which it is made
     */
    static PlanFailedException invalidDecision(String message, UUID blamed) {
        return new PlanFailedException(message, new IllegalStateException(message), Optional.of(blamed));
    }

    public static PlanFailedException of(Throwable cause) {
        return cause instanceof PlanFailedException failure
                ? failure
                : new PlanFailedException("no plan: " + cause, cause, Optional.empty());
    }

    public Optional<UUID> blamed() {
        return blamed;
    }
}
