package io.quartermaster.engine.model;

/** What a quota counts over: one pool, or all pools together (written {@code *}). */
public sealed interface Scope extends Comparable<Scope> {

    AllPools ALL_POOLS = new AllPools();

    /** Counts what is held in one pool. */
    record OnePool(PoolId pool) implements Scope {
        @Override
        public String toString() {
            return pool.value();
        }
    }

    /** Counts what is held over all pools together. */
    record AllPools() implements Scope {
        @Override
        public String toString() {
            return "*";
        }
    }

    static Scope of(PoolId pool) {
        return new OnePool(pool);
    }

    /** All pools first, then by pool. */
    @Override
    default int compareTo(Scope other) {
        return switch (this) {
            case AllPools all -> other instanceof AllPools ? 0 : -1;
            case OnePool one -> other instanceof OnePool second ? one.pool.compareTo(second.pool) : 1;
        };
    }
}
