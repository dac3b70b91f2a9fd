package io.quartermaster.ledger;

/**
 * Names an allocation: the devices one attempt holds. Ordered by its text; the canonical (lower-case) text of UUIDs sorts as the UUIDs
 * do in the database.
 */
public record AllocationId(String value) implements Comparable<AllocationId> {
    public AllocationId {
        RecordChecks.requireText(value, "allocation id");
    }

    @Override
    public int compareTo(AllocationId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
