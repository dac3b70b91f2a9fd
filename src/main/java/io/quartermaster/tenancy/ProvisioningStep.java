package io.quartermaster.tenancy;

import io.smallrye.mutiny.Uni;

/**
 * One step of the creation of a tenant. All beans of this type are used; higher packages add theirs, such as the
 * namespaces of a Kubernetes cluster.
 *
 * <p>A step must be idempotent: it may run again after this or another process completed it, in full or in part. It
 * fails with a message that an operator can act on, and is retried after a pause.
 */
public interface ProvisioningStep {

    /** Kebab-case and unique; shown in the operation and stored with it. */
    String name();

    /** Steps run from low to high. */
    int order();

    Uni<Void> apply(TenantSpec tenant);

    /**
     * Removes everything that {@link #apply} created, and succeeds if nothing of it is left. Steps are undone from high
     * to low.
     */
    Uni<Void> undo(TenantSpec tenant);
}
