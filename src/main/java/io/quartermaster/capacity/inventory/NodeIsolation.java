package io.quartermaster.capacity.inventory;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How a node isolates the work of different tenants, as its agent reports. */
@Schema(name = "NodeIsolation")
public enum NodeIsolation {
    CONTAINER,
    /**
     * By a user of the operating system for each tenant. This protects files and the memory of processes, but neither
     * GPUs nor other shared devices of the machine. Such a node serves one tenant, or tenants that trust each other.
     */
    OS_USER,
    /** No isolation: such a node serves one tenant, or tenants that trust each other. */
    NONE
}
