package io.quartermaster.capacity.inventory;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How a node keeps the work of different tenants apart, as its agent says. */
@Schema(name = "NodeIsolation")
public enum NodeIsolation {
    CONTAINER,
    /**
     * As a user of the operating system for each tenant. It protects files and memory of processes, but neither GPUs nor what the machine has
     * to share, so such a node serves one tenant, or tenants that trust each other.
     */
    OS_USER,
    /** Not at all: such a node serves one tenant, or tenants that trust each other. */
    NONE
}
