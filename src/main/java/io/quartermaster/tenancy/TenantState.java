package io.quartermaster.tenancy;

/** An active tenant's tokens count, and those of a suspended one for reading. */
public enum TenantState {
    PROVISIONING,
    ACTIVE,
    SUSPENDED,
    /** It could not be provisioned; asking for it again tries again. */
    FAILED,
    OFFBOARDING,
    DELETED
}
