package io.quartermaster.governance.rules;

/** The state of a policy, which decides whether its work may start. */
public enum PolicyState {
    ACTIVE,
    /** Its group is gone from the realm: no work of it starts until the group is back. Running work continues. */
    SUSPENDED
}
