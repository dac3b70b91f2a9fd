package io.quartermaster.ledger;

/**
 * The id of a pool. Ids are ordered by their text; the canonical (lower-case) text of UUIDs sorts as the UUIDs do in
 * the database.
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
