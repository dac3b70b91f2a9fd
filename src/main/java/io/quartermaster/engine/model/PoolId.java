package io.quartermaster.engine.model;

/** Id of a pool. */
public record PoolId(String value) implements Comparable<PoolId> {

    public PoolId {
        if (value.isEmpty()) {
            throw new IllegalArgumentException("a pool id must not be empty");
        }
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
