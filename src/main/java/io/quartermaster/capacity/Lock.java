package io.quartermaster.capacity;

/** Whether a row that is read is also kept from changing until the transaction ends. */
enum Lock {
    NONE(""),
    FOR_CHANGE(" for update");

    private final String clause;

    Lock(String clause) {
        this.clause = clause;
    }

    String clause() {
        return clause;
    }
}
