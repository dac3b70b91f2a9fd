package io.quartermaster.engine.placement;

/** The backfill reservations of one pool: how many hold devices, and how often they have changed. */
final class ReservedRoom {
    private int holding;
    private long version;

    void hold() {
        holding++;
    }

    /** Undoes {@link #hold}. */
    void release() {
        holding--;
    }

    boolean isEmpty() {
        return holding == 0;
    }

    long version() {
        return version;
    }

    /** Records that the reservations bind other work than before. */
    void recordChange() {
        version++;
    }
}
