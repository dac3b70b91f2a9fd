package io.quartermaster.engine.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WinnerTreeTest {

    @Test
    void theWinnerIsTheBestOfThoseWhoTakePartWhateverChanged() {
        Random random = new Random(11);
        List<Integer> entries = new ArrayList<>();
        WinnerTree winnerTree = new WinnerTree(new WinnerTree.Duel() {
            @Override
            public boolean takesPart(int contestant) {
                return entries.get(contestant) >= 0;
            }

            @Override
            public boolean beats(int first, int second) {
                return entries.get(first) < entries.get(second);
            }
        });
        for (int step = 0; step < 5_000; step++) {
            int changed = random.nextInt(Math.min(entries.size() + 1, 100));
            if (changed == entries.size()) {
                entries.add(-1);
            }
            entries.set(changed, random.nextInt(3) == 0 ? -1 : random.nextInt(1_000_000));
            winnerTree.replay(changed);

            int least = entries.stream()
                    .filter(entry -> entry >= 0)
                    .mapToInt(entry -> entry)
                    .min()
                    .orElse(-1);
            assertThat(winnerTree.winner() < 0 ? -1 : entries.get(winnerTree.winner()))
                    .isEqualTo(least);
        }
    }

    @Test
    void nobodyWinsWhereNobodyTakesPart() {
        WinnerTree winnerTree = new WinnerTree(new WinnerTree.Duel() {
            @Override
            public boolean takesPart(int contestant) {
                return false;
            }

            @Override
            public boolean beats(int first, int second) {
                return true;
            }
        });
        winnerTree.replay(5);
        assertThat(winnerTree.winner()).isNegative();
    }
}
