package io.quartermaster.ledger;

/**
 * Names a pool. Ordered by its text; the canonical (lower-case) text of UUIDs sorts as the UUIDs
 * do in the database.
 */
public record PoolId(String value) implements Comparable<PoolId> {
    public PoolId {
        Texts.requireText(value, "pool id");
    }

    @Override
    public int compareTo(PoolId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
