package io.quartermaster.ledger;

/**
 * Names a policy: what a tenant admin granted a group. Ordered by its text; the canonical (lower-case) text of UUIDs sorts as the UUIDs
 * do in the database.
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
