package io.quartermaster.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

class RandomCasesTest {

    @Test
    void everyCaseHasASeedOfItsOwn() {
        List<Long> seeds = new ArrayList<>();
        RandomCases.forEach(5, 100, (seed, judged) -> {
            seeds.add(seed);
            judged.check();
        });
        assertThat(seeds).hasSize(RandomCases.count(5)).doesNotHaveDuplicates().contains(RandomCases.firstSeed());
    }

    @Test
    void aPropertyThatJudgesTooFewCasesFails() {
        RandomCases.Property everyOther = (seed, judged) -> {
            if (seed % 2 == 0) {
                judged.check();
                judged.check();
            }
        };
        Assumptions.assumeTrue(RandomCases.areEnough());
        assertThatCode(() -> RandomCases.forEach(10, 50, everyOther)).doesNotThrowAnyException();
        assertThatThrownBy(() -> RandomCases.forEach(10, 51, everyOther))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("fewer than 51 % of the cases were judged");
    }

    @Test
    void aFailureNamesItsSeedAndHowToRepeatIt() {
        long failing = RandomCases.firstSeed() + 3;
        assertThatThrownBy(() -> RandomCases.forEach(
                        20, 0, (seed, judged) -> assertThat(seed).isNotEqualTo(failing)))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("seed " + failing)
                .hasMessageContaining(
                        "./qm test --unit RandomCasesTest#aFailureNamesItsSeedAndHowToRepeatIt --seed " + failing);
    }
}
