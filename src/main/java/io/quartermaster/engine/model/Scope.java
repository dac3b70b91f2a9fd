package io.quartermaster.engine.model;

/** Scope of a quota: one pool, or all pools together (written {@code *}). */
public sealed interface Scope extends Comparable<Scope> {

    AllPools ALL_POOLS = new AllPools();

    /** Counts the use in one pool. */
    record OnePool(PoolId pool) implements Scope {
        @Override
        public String toString() {
            return pool.value();
        }
    }

    /** Counts the use in all pools together. */
    record AllPools() implements Scope {
        @Override
        public String toString() {
            return "*";
        }
    }

    static Scope of(PoolId pool) {
        return new OnePool(pool);
    }

    /** The scope of all pools comes first; the others are in the order of their pools. */
    @Override
    default int compareTo(Scope other) {
        return switch (this) {
            case AllPools all -> other instanceof AllPools ? 0 : -1;
            case OnePool one -> other instanceof OnePool second ? one.pool.compareTo(second.pool) : 1;
        };
    }
}
