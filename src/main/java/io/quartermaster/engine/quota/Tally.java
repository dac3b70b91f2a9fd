package io.quartermaster.engine.quota;

/** An amount in both states of the world. */
public final class Tally {
    private long now;
    private long next;

    public long at(When when) {
        return switch (when) {
            case NOW -> now;
            case NEXT -> next;
        };
    }

    public long now() {
        return now;
    }

    public long next() {
        return next;
    }

    void add(When when, long amount) {
        switch (when) {
            case NOW -> now += amount;
            case NEXT -> next += amount;
        }
    }
}
