package io.quartermaster.ledger;

/**
 * The class by which the provider bills usage. An allocation holds reserved and on-demand usage; the other classes have
 * no allocation.
 */
public enum UsageClass {
    /** Held, and within the amount that the tenant has reserved in the pool. */
    RESERVED,
    /** Held beyond the amount that the tenant has reserved in the pool. */
    ON_DEMAND,
    /** Reserved by the tenant, but not held by any of its allocations. */
    RESERVED_IDLE,
    /** Requested as a reservation but not honoured; metered separately and never added to the other classes. */
    RESERVED_UNMET;

    /** Whether an allocation holds usage of this class. */
    public boolean isHeld() {
        return switch (this) {
            case RESERVED, ON_DEMAND -> true;
            case RESERVED_IDLE, RESERVED_UNMET -> false;
        };
    }
}
