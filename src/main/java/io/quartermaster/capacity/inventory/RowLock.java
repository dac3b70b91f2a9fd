package io.quartermaster.capacity.inventory;

/** Whether a row that is read is also kept from changing until the transaction ends. */
public enum RowLock {
    NONE(""),
    /** As {@link #FOR_CHANGE}, but rows that refer to this one can be inserted meanwhile. */
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
