package io.quartermaster.engine.reference;

import io.quartermaster.testing.RandomCases;
import java.util.EnumSet;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random cells in which the engine once decided otherwise than the reference planner, each with its cause. */
class ReferencePlannerSeedsTest {

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
            9919  | a part that could only move to an empty GPU was no victim of a move for several parts
            10191 | an eviction on a lost node seemed to leave capacity that goes with the work
            10687 | work reached its minimum run time between two states, and failed moves stayed remembered
            """)
    void engineDecidesAsTheReferencePlannerDoes(long seed, String cause) {
        ReferencePlannerPropertiesTest.compare(
                new ReferenceCell(seed, EnumSet.allOf(ReferenceCell.Feature.class)),
                new TreeSet<>(),
                new RandomCases.Judged());
    }
}
