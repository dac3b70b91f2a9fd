package io.quartermaster.tenancy;

import io.smallrye.mutiny.Uni;

/**
 * One step on the way to a usable tenant. Beans of this type are found by themselves; packages above bring theirs, such as the namespaces
 * of a Kubernetes cluster.
 *
 * <p>A step may run again after it was done, or half done, by this process or another: it makes sure that something is so. Where it fails, it
 * fails with a message that an operator can act on; it is then tried again, after a while.
 */
public interface ProvisioningStep {

    /** Kebab-case and unique; shown in the operation and stored with it. */
    String name();

    /** Steps run from low to high. */
    int order();

    Uni<Void> apply(TenantSpec tenant);

    /** Takes away what {@link #apply} made; also where nothing is left of it. Steps are undone from high to low. */
    Uni<Void> undo(TenantSpec tenant);
}
