package io.quartermaster.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

class NodeSetTest {

    @Test
    void theNextIsTheFirstAtOrAfterAPlace() {
        Random random = new Random(3);
        NodeSet set = new NodeSet();
        BitSet expected = new BitSet();
        for (int step = 0; step < 20_000; step++) {
            int position = random.nextInt(10_000);
            if (random.nextInt(3) == 0) {
                set.add(position);
                expected.set(position);
            } else {
                int present = expected.nextSetBit(position);
                set.remove(present < 0 ? position : present);
                expected.clear(present < 0 ? position : present);
            }
            int from = random.nextInt(12_000);
            assertThat(set.next(from)).isEqualTo(expected.nextSetBit(from));
            assertThat(set.isEmpty()).isEqualTo(expected.isEmpty());
        }
    }
}
