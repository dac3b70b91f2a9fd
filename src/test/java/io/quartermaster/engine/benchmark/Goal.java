package io.quartermaster.engine.benchmark;

import java.util.Locale;

/** Goals of the benchmarks, in CPU time of the deciding thread, and the ranges around them that a check asserts. */
enum Goal {
    FILL(Kind.AT_LEAST, 20_000, "starts per cpu-second"),
    IDLE_PLAN(Kind.AT_MOST_MILLIS, 5, "ms"),
    EVENT_P50(Kind.AT_MOST_MILLIS, 0.2, "ms"),
    EVENT_P99(Kind.AT_MOST_MILLIS, 2, "ms"),
    EVENT_MAX(Kind.AT_MOST_MILLIS, 50, "ms"),
    FEATURE_RATIO(Kind.AT_MOST_RATIO, 2, "times the cell without it"),
    EVEN_FILL(Kind.AT_MOST_MILLIS, 26.8, "ms"),
    EVEN_FILL_MIX(Kind.AT_MOST_MILLIS, 27.2, "ms"),
    EVEN_IDLE_PLAN(Kind.AT_MOST_MILLIS, 0.45, "ms"),
    EVEN_IDLE_PLAN_MIX(Kind.AT_MOST_MILLIS, 0.59, "ms"),
    EVEN_EVENT_P50(Kind.AT_MOST_MILLIS, 0.037, "ms"),
    EVEN_EVENT_P99(Kind.AT_MOST_MILLIS, 0.103, "ms"),
    EVEN_EVENT_P50_MIX(Kind.AT_MOST_MILLIS, 0.033, "ms"),
    EVEN_EVENT_P99_MIX(Kind.AT_MOST_MILLIS, 0.078, "ms"),
    CHANGE(Kind.AT_MOST_MILLIS, 20, "ms"),
    CHURN_RATIO(Kind.AT_MOST_RATIO, 2, "times"),
    /** The part of all GPUs that the fill allocates. */
    ALLOCATED(Kind.AT_LEAST_RATIO, 0.9, "of all GPUs"),
    /** Plans of one moment until nothing more is decided. */
    PLANS_OF_FILL(Kind.AT_MOST_RATIO, 200, "plans");

    /** Figures may miss a goal by this factor before a check fails: one run varies as much. */
    private static final double TOLERANCE = 1.25;

    private enum Kind {
        /** A rate, which a slower machine lowers. */
        AT_LEAST,
        AT_LEAST_RATIO,
        /** A CPU time, which a slower machine raises. */
        AT_MOST_MILLIS,
        AT_MOST_RATIO
    }

    private final Kind kind;
    private final double bound;
    private final String unit;

    Goal(Kind kind, double bound, String unit) {
        this.kind = kind;
        this.bound = bound;
        this.unit = unit;
    }

    boolean isMetBy(double figure) {
        return switch (kind) {
            case AT_LEAST, AT_LEAST_RATIO -> figure >= bound;
            case AT_MOST_MILLIS, AT_MOST_RATIO -> figure <= bound;
        };
    }

    /**
     * Whether a check accepts the figure. CPU times count relative to the machine's speed.
     *
     * @param slowness how many times slower than the reference the machine is
     */
    boolean isInRange(double figure, double slowness) {
        return switch (kind) {
            case AT_LEAST -> figure * slowness * TOLERANCE >= bound;
            case AT_LEAST_RATIO -> figure >= bound;
            case AT_MOST_MILLIS -> figure / slowness <= bound * TOLERANCE;
            case AT_MOST_RATIO -> figure <= bound * TOLERANCE;
        };
    }

    /** The goal and whether the figure meets it. */
    String text(double figure) {
        String most = kind == Kind.AT_LEAST || kind == Kind.AT_LEAST_RATIO ? "at least " : "at most ";
        String number = bound >= 1_000 ? String.format(Locale.ROOT, "%,.0f", bound) : number(bound);
        return most + number + " " + unit + (isMetBy(figure) ? ": met" : ": missed");
    }

    private static String number(double amount) {
        return amount == Math.rint(amount) ? Long.toString((long) amount) : Double.toString(amount);
    }
}
