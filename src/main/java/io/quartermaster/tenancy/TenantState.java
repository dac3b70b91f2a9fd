package io.quartermaster.tenancy;

/** Only an active tenant's tokens count. */
public enum TenantState {
    PROVISIONING,
    ACTIVE,
    SUSPENDED,
    /** It could not be provisioned; asking for it again tries again. */
    FAILED,
    OFFBOARDING,
    DELETED
}
