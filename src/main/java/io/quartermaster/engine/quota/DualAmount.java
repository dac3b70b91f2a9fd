package io.quartermaster.engine.quota;

/** An amount in both views: current and projected. */
public final class DualAmount {
    private long current;
    private long projected;

    public long at(UsageView view) {
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

    void add(UsageView view, long amount) {
        switch (view) {
            case CURRENT -> current += amount;
            case PROJECTED -> projected += amount;
        }
    }
}
