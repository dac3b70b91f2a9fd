package io.quartermaster.capacity;

/** How a node keeps the work of different tenants apart, as its agent says. */
public enum Isolation {
    CONTAINER,
    OS_USER,
    /** Not at all: such a node may only be in a pool of one tenant. */
    NONE
}
