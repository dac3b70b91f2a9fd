package io.quartermaster.ledger;

/**
 * Whether held usage is within the reserved amount of its policy. It serves showback inside the tenant and is never
 * added to {@link UsageClass}, by which the provider bills.
 */
public enum Standing {
    /** Fills the amount that the policy has reserved in the pool. */
    WITHIN,
    /** Exceeds the amount that the policy has reserved in the pool. */
    OVER_QUOTA
}
