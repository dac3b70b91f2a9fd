package io.quartermaster.ledger;

/**
 * Names a tenant. Ordered by its text; the canonical (lower-case) text of UUIDs sorts as the UUIDs
 * do in the database.
 */
public record TenantId(String value) implements Comparable<TenantId> {
    public TenantId {
        Texts.requireText(value, "tenant id");
    }

    @Override
    public int compareTo(TenantId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
