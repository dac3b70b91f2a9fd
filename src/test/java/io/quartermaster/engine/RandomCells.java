package io.quartermaster.engine;

import java.util.function.LongConsumer;

/** Properties are tried over so many random cells, each with a history of so many events. */
final class RandomCells {
    static final int EVENTS = 12;
    private static final int CELLS = Integer.getInteger("engine.cells", 200);

    private RandomCells() {}

    /** Over how many cells a property is tried. */
    static int count() {
        return CELLS;
    }

    /** Tries a property with the seed of each; a failure names it. */
    static void forEach(LongConsumer property) {
        for (long seed = 0; seed < CELLS; seed++) {
            try {
                property.accept(seed);
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
