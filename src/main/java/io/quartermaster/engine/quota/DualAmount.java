package io.quartermaster.engine.quota;

/** An amount in both views: current and projected. */
public final class DualAmount {
    private long current;
    private long projected;

    public long at(View view) {
        return switch (view) {
            case CURRENT -> current;
            case PROJECTED -> projected;
        };
    }

    public long current() {
        return current;
    }

    public long projected() {
        return projected;
    }

    void add(View view, long amount) {
        switch (view) {
            case CURRENT -> current += amount;
            case PROJECTED -> projected += amount;
        }
    }
}
