package io.quartermaster.capacity;

import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** How a node keeps the work of different tenants apart, as its agent says. */
@Schema(name = "NodeIsolation")
public enum Isolation {
    CONTAINER,
    OS_USER,
    /** Not at all: such a node may only be in a pool of one tenant. */
    NONE
}
