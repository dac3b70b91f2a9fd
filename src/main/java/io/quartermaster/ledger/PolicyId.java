package io.quartermaster.ledger;

/**
 * The id of a policy: a tenant admin's grant to a group. Ids are ordered by their text; the canonical (lower-case) text
 * of UUIDs sorts as the UUIDs do in the database.
 */
public record PolicyId(String value) implements Comparable<PolicyId> {
    public PolicyId {
        RecordChecks.requireText(value, "policy id");
    }

    @Override
    public int compareTo(PolicyId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
