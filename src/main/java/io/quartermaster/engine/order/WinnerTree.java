package io.quartermaster.engine.order;

import java.util.Arrays;

/**
 * A tournament tree that finds the best of several contestants. After a change of one contestant, it repeats one
 * comparison per level. Contestants are numbers; the criteria are outside.
 */
final class WinnerTree {
    private static final int NO_WINNER = -1;

    private final Duel duel;
    private int[] winners = {NO_WINNER, NO_WINNER};
    private int places = 1;

    /** Decides between two contestants. */
    interface Duel {
        /** Whether there is a contestant with this number now. */
        boolean takesPart(int contestant);

        /** Whether the first goes before the second; both take part. */
        boolean beats(int first, int second);
    }

    WinnerTree(Duel duel) {
        this.duel = duel;
    }

    /** The winner; negative if there is no contestant. */
    int winner() {
        return winners[1];
    }

    /** Repeats the comparisons of a contestant that is new or changed. */
    void replay(int contestant) {
        while (contestant >= places) {
            enlarge();
        }
        int place = places + contestant;
        winners[place] = duel.takesPart(contestant) ? contestant : NO_WINNER;
        for (int round = place >> 1; round >= 1; round >>= 1) {
            winners[round] = better(winners[2 * round], winners[2 * round + 1]);
        }
    }

    private int better(int a, int b) {
        if (a == NO_WINNER || b == NO_WINNER) {
            return Math.max(a, b);
        }
        return duel.beats(b, a) ? b : a;
    }

    /** Doubles the places; the old tree becomes one half. */
    private void enlarge() {
        int[] larger = new int[4 * places];
        Arrays.fill(larger, NO_WINNER);
        for (int width = 1; width <= places; width *= 2) {
            System.arraycopy(winners, width, larger, 2 * width, width);
        }
        larger[1] = winners[1];
        winners = larger;
        places *= 2;
    }
}
