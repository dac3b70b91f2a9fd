package io.quartermaster.dispatch.transaction;

import java.util.Set;
import java.util.UUID;

/** Another transaction kept one of these workloads' rows locked for so long that the turn was given up. No failure of the plan. */
public final class LockedRowsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Set<UUID> candidates;

    LockedRowsException(Set<UUID> candidates, Throwable cause) {
        super("a row that the turn writes is locked by another transaction: " + cause.getMessage(), cause);
        this.candidates = Set.copyOf(candidates);
    }

    /** The workloads whose rows the turn writes, the locked one among them. */
    public Set<UUID> candidates() {
        return candidates;
    }
}
