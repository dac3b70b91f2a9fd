package io.quartermaster.governance.rules;

/** Whether anything of a policy may start. */
public enum PolicyState {
    ACTIVE,
    /** Its group is gone from the realm: nothing of it starts until the group is back. What runs goes on. */
    SUSPENDED
}
