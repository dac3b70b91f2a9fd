package io.quartermaster.testing;

import java.util.Locale;
import java.util.Optional;

/**
 * The random cases of a property test. A run begins with the case of seed 0, so that the gate is repeatable;
 * {@code ./qm campaign properties} draws new seeds. A run prints the first seed of each property, and how many of its
 * cases the property judged. A case in which no check could fail shows nothing, and a property that judges too few
 * cases fails.
 *
 * <p>{@code -Dqm.seed=N} begins with the case of seed N, so the seed that a failure names repeats it;
 * {@code -Dqm.cases=P} tries P percent of the usual cases; with fewer than usual, the number of judged cases is not
 * checked. A failing seed becomes a named test: {@link #repeat}.
 */
public final class RandomCases {

    private static final Optional<Long> GIVEN_SEED = Optional.ofNullable(Long.getLong("qm.seed"));

    private static final long FIRST_SEED = GIVEN_SEED.orElse(0L);

    private static final int PERCENT = Integer.getInteger("qm.cases", 100);

    private RandomCases() {}

    /** A property that must hold in the case of every seed. */
    @FunctionalInterface
    public interface Property {
        void holds(long seed, Judged judged);
    }

    /** Counts what a property compared in one case. */
    public static final class Judged {
        private long checks;

        /** Counts a comparison that a faulty program could fail. */
        public void check() {
            checks++;
        }
    }

    /** The first seed of this run, for random tests that are not properties over many cases. */
    public static long firstSeed() {
        return FIRST_SEED;
    }

    /** Whether a run tries as many cases as usual. Only then is it a fault if a rare event happens in none of them. */
    public static boolean areEnough() {
        return PERCENT >= 100;
    }

    /** The number of cases of this run for a property that usually gets so many. */
    public static int count(int cases) {
        return Math.max(1, cases * PERCENT / 100);
    }

    /** Tries a property over so many cases, of which it must judge at least this percentage. */
    public static void forEach(int cases, int leastJudgedPercent, Property property) {
        tryAll(FIRST_SEED, cases, leastJudgedPercent, property);
    }

    /** As the method above, but with this first seed in every run without {@code -Dqm.seed}. */
    public static void forEach(long firstSeed, int cases, int leastJudgedPercent, Property property) {
        tryAll(GIVEN_SEED.orElse(firstSeed), cases, leastJudgedPercent, property);
    }

    private static void tryAll(long firstSeed, int cases, int leastJudgedPercent, Property property) {
        int all = count(cases);
        int judgedCases = 0;
        long checks = 0;
        for (long seed = firstSeed; seed < firstSeed + all; seed++) {
            Judged judged = repeat(seed, property);
            judgedCases += judged.checks > 0 ? 1 : 0;
            checks += judged.checks;
        }
        String summary = String.format(
                Locale.ROOT,
                "%s: %d cases from seed %d, %d judged, %d checks",
                test().orElse("a property"),
                all,
                firstSeed,
                judgedCases,
                checks);
        System.out.println(summary);
        if (areEnough() && judgedCases * 100L < (long) leastJudgedPercent * all) {
            throw new AssertionError(summary + ": fewer than " + leastJudgedPercent + " % of the cases were judged");
        }
    }

    /** Tries a property in the case of one seed. */
    public static Judged repeat(long seed, Property property) {
        Judged judged = new Judged();
        try {
            property.holds(seed, judged);
        } catch (AssertionError | RuntimeException e) {
            String again = test().map(test -> " (repeat it: ./qm test --unit " + test + " --seed " + seed + ")")
                    .orElse("");
            throw new AssertionError("seed " + seed + again + ": " + e.getMessage(), e);
        }
        return judged;
    }

    /** The calling test method, as Maven names it. */
    private static Optional<String> test() {
        return StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE)
                .walk(frames -> frames.filter(frame ->
                                frame.getDeclaringClass().getSimpleName().endsWith("Test")
                                        && !frame.getMethodName().startsWith("lambda$"))
                        .reduce((inner, outer) -> outer)
                        .map(frame -> frame.getDeclaringClass().getSimpleName() + "#" + frame.getMethodName()));
    }
}
