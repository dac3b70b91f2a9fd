package io.quartermaster.ledger;

/** What the provider bills a stretch of usage as. Reserved and on-demand are held by an allocation, the others are not. */
public enum UsageClass {
    /** Held, and filling what the tenant has reserved in the pool. */
    RESERVED,
    /** Held beyond what the tenant has reserved in the pool. */
    ON_DEMAND,
    /** Reserved by the tenant and not held by anything of it. */
    RESERVED_IDLE,
    /** Asked for as a reservation and not honoured; metered beside the others and never added to them. */
    RESERVED_UNMET;

    /** Whether an allocation holds what is of this class. */
    public boolean isHeld() {
        return switch (this) {
            case RESERVED, ON_DEMAND -> true;
            case RESERVED_IDLE, RESERVED_UNMET -> false;
        };
    }
}
