package io.quartermaster.dispatch.transaction;

import java.util.Set;
import java.util.UUID;

/**
 * Another transaction locked the row of one of these workloads for longer than the cycle waits. It is no failure of the
 * plan.
 */
public final class LockedRowsException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Set<UUID> candidates;

    LockedRowsException(Set<UUID> candidates, Throwable cause) {
        super("another transaction has locked a row that the cycle writes: " + cause.getMessage(), cause);
        this.candidates = Set.copyOf(candidates);
    }

    /** The workloads whose rows the cycle writes, including the locked one. */
    public Set<UUID> candidates() {
        return candidates;
    }
}
