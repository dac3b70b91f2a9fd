package io.quartermaster.ledger;

/** The state of one label key for the usage of an allocation. */
public enum LabelState {
    /** The key was declared when the allocation began, and the workload had a label with this key. */
    SET,
    /** The key was declared when the allocation began, and the workload had no label with this key. */
    UNSET,
    /** The key was not declared when the allocation began, so the label was not recorded. */
    UNDECLARED
}
