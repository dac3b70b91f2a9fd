package io.quartermaster.ledger;

/**
 * How held usage stands to the policy it was submitted under. For showback inside the tenant; never added to
 * {@link UsageClass}, which is what the provider bills.
 */
public enum Standing {
    /** Fills what the policy has reserved in the pool. */
    WITHIN,
    /** Runs beyond what the policy has reserved in the pool. */
    OVER_QUOTA
}
