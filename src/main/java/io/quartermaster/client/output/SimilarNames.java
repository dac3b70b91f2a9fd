package io.quartermaster.client.output;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The known names that a mistyped word may stand for. The measure is the number of letters that were added, left out,
 * replaced, or swapped with their neighbour (Damerau and Levenshtein).
 */
public final class SimilarNames {

    private static final int MOST_NAMES = 3;
    private static final int SHORTEST_BEGINNING = 3;
    private static final int LETTERS_PER_MISTAKE = 3;

    private SimilarNames() {}

    /** The nearest names, in alphabetical order; none if even these are far from the word. */
    public static List<String> of(String word, Collection<String> known) {
        Map<String, Integer> distances = known.stream()
                .distinct()
                .collect(Collectors.toMap(name -> name, name -> distanceOrBeginning(word, name)));
        int limit = Math.max(1, word.length() / LETTERS_PER_MISTAKE);
        int nearest = distances.values().stream().min(Comparator.naturalOrder()).orElse(Integer.MAX_VALUE);
        return distances.entrySet().stream()
                .filter(entry -> entry.getValue() <= limit && entry.getValue() == nearest)
                .map(Map.Entry::getKey)
                .sorted()
                .limit(MOST_NAMES)
                .toList();
    }

    /** A word that is the beginning of a name is as near as one mistake. */
    private static int distanceOrBeginning(String word, String name) {
        boolean begins = word.length() >= SHORTEST_BEGINNING && name.startsWith(word);
        return begins ? 1 : distance(word, name);
    }

    /** The least number of mistakes between two words, each part of a word changed at most once. */
    static int distance(String one, String other) {
        int[][] best = new int[one.length() + 1][other.length() + 1];
        for (int i = 0; i <= one.length(); i++) {
            for (int j = 0; j <= other.length(); j++) {
                if (i == 0 || j == 0) {
                    best[i][j] = i + j;
                    continue;
                }
                int replaced = one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1;
                int least = Math.min(best[i - 1][j - 1] + replaced, Math.min(best[i - 1][j], best[i][j - 1]) + 1);
                boolean swapped = i > 1
                        && j > 1
                        && one.charAt(i - 1) == other.charAt(j - 2)
                        && one.charAt(i - 2) == other.charAt(j - 1);
                best[i][j] = swapped ? Math.min(least, best[i - 2][j - 2] + 1) : least;
            }
        }
        return best[one.length()][other.length()];
    }
}
