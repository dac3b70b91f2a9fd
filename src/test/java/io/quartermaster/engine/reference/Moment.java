package io.quartermaster.engine.reference;

import java.util.List;

/** The moment at which capacity must be free: in one view of the holdings, or in both. */
enum Moment {
    /** Free now, and still free once all evicted work has left and all nominated work has started. */
    NOW(List.of(View.CURRENT, View.PROJECTED)),
    /** Free once all evicted work has left. */
    LATER(List.of(View.PROJECTED)),
    /** Free now, whether it is nominated or not. */
    IGNORING_NOMINATIONS(List.of(View.CURRENT));

    final List<View> views;

    Moment(List<View> views) {
        this.views = views;
    }

    /** What counts as used: what is held now, or what is held once all evicted work has left. */
    enum View {
        CURRENT,
        PROJECTED
    }
}
