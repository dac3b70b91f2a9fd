package io.quartermaster.ledger;

/**
 * The id of an allocation: the devices that one attempt holds. Ids are ordered by their text; the canonical
 * (lower-case) text of UUIDs sorts as the UUIDs do in the database.
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
