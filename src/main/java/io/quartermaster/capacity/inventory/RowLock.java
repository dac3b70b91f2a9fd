package io.quartermaster.capacity.inventory;

/** Whether a read also locks the row against changes until the transaction ends. */
public enum RowLock {
    NONE(""),
    /** As {@link #FOR_CHANGE}, but other transactions can still insert rows that refer to this one. */
    NO_KEY_UPDATE(" for no key update"),
    FOR_CHANGE(" for update");

    private final String clause;

    RowLock(String clause) {
        this.clause = clause;
    }

    String clause() {
        return clause;
    }
}
