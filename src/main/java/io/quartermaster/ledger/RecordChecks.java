package io.quartermaster.ledger;

/** Checks that the records of this package share. */
final class RecordChecks {
    private RecordChecks() {}

    static String requireText(String value, String what) {
        if (value.isBlank()) {
            throw new IllegalArgumentException(what + " must not be blank");
        }
        return value;
    }
}
