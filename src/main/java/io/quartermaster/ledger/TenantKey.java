package io.quartermaster.ledger;

/**
 * The id of a tenant. Ids are ordered by their text; the canonical (lower-case) text of UUIDs sorts as the UUIDs do in
 * the database.
 */
public record TenantKey(String value) implements Comparable<TenantKey> {
    public TenantKey {
        RecordChecks.requireText(value, "tenant id");
    }

    @Override
    public int compareTo(TenantKey other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
