package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.RandomCases;

/** Random cells for property tests of the engine: the number of cells, and of events in the history of each. */
public final class RandomCells {
    public static final int EVENTS = 12;
    private static final int CELLS = 200;

    private RandomCells() {}

    /** Tries a property with the seed of each cell; the property must judge at least this percentage of the cells. */
    public static void forEach(int leastJudgedPercent, RandomCases.Property property) {
        RandomCases.forEach(CELLS, leastJudgedPercent, property);
    }

    /**
     * Tries a property over the same cells in every run, unless a seed is given: for a property that does not hold in
     * all cells yet.
     */
    static void forEachKnown(int leastJudgedPercent, RandomCases.Property property) {
        RandomCases.forEach(0, CELLS, leastJudgedPercent, property);
    }

    /** Requires that an event happened this often per 200 cells, because otherwise the test shows nothing. */
    static void requireHappened(long least, long times, String what) {
        if (RandomCases.areEnough()) {
            assertThat(times * CELLS).as(what).isGreaterThanOrEqualTo(least * RandomCases.count(CELLS));
        }
    }
}
