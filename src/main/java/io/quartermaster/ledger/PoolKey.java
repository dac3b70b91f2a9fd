package io.quartermaster.ledger;

/**
 * Names a pool. Ordered by its text; the canonical (lower-case) text of UUIDs sorts as the UUIDs
 * do in the database.
 */
public record PoolKey(String value) implements Comparable<PoolKey> {
    public PoolKey {
        RecordChecks.requireText(value, "pool id");
    }

    @Override
    public int compareTo(PoolKey other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
