package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.model.Settings;
import java.util.OptionalLong;

/** One property that a representative cell has in addition, or lacks. */
enum CellVariant {
    BASE("representative cell"),
    CARVE_OUTS("hard carve-outs: half of the tenants lend half, a tenth of the subgroups lends nothing"),
    FAIRNESS_WINDOW("a fairness window of an hour"),
    BUDGET("budgets of five tenants that last for weeks"),
    OPENING_HOURS("opening hours of one pool, which preempts at closing"),
    PROFILE_ORDER("a profile order in one pool"),
    FENCES("quota fences of a quarter of the tenants and a fifth of the groups"),
    WITHOUT_MOVES("without moves (consolidate off)"),
    WITHOUT_PARTS("without parts of GPUs (each is a whole GPU)");

    private static final long HOUR_MILLIS = 3_600_000;

    private final String text;

    CellVariant(String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    /** Whether it adds a property. The others remove one, to show what it costs. */
    boolean isFeature() {
        return this != BASE && this != WITHOUT_MOVES && this != WITHOUT_PARTS;
    }

    Settings settings(Settings shipped) {
        return switch (this) {
            case FAIRNESS_WINDOW ->
                shipped.toBuilder()
                        .fairnessWindowMillis(OptionalLong.of(HOUR_MILLIS))
                        .settings();
            case WITHOUT_MOVES -> shipped.toBuilder().consolidate(false).settings();
            case BASE, CARVE_OUTS, BUDGET, OPENING_HOURS, PROFILE_ORDER, FENCES, WITHOUT_PARTS -> shipped;
        };
    }
}
