package io.quartermaster.tenancy;

/** The state of a tenant. An active tenant's tokens are valid, and those of a suspended one are valid for reading. */
public enum TenantState {
    PROVISIONING,
    ACTIVE,
    SUSPENDED,
    /** Provisioning failed; a repeated request restarts it. */
    FAILED,
    OFFBOARDING,
    DELETED
}
