package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.RandomCases;

/** Properties of the engine are tried over so many random cells, each with a history of so many events. */
public final class RandomCells {
    public static final int EVENTS = 12;
    private static final int CELLS = 200;

    private RandomCells() {}

    /** Tries a property with the seed of each cell; it must judge at least such a part of them. */
    public static void forEach(int leastJudgedPercent, RandomCases.Property property) {
        RandomCases.forEach(CELLS, leastJudgedPercent, property);
    }

    /** The same over the same cells in every run, unless a seed is given: for a property that does not hold in all cells yet. */
    static void forEachKnown(int leastJudgedPercent, RandomCases.Property property) {
        RandomCases.forEach(0, CELLS, leastJudgedPercent, property);
    }

    /** What must have happened so often in 200 cells, for the property to have shown anything. */
    static void requireHappened(long least, long times, String what) {
        if (RandomCases.areEnough()) {
            assertThat(times * CELLS).as(what).isGreaterThanOrEqualTo(least * RandomCases.count(CELLS));
        }
    }
}
