package io.quartermaster.governance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smallrye.mutiny.Uni;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SequentialUnisTest {

    @Test
    void manyStepsThatAreDoneAtOnceNeedNoDeepStack() {
        List<Integer> things = IntStream.range(0, 100_000).boxed().toList();
        List<Integer> done = new ArrayList<>();

        SequentialUnis.each(things, thing -> Uni.createFrom().item(thing).invoke(done::add))
                .await()
                .indefinitely();

        assertThat(done).isEqualTo(things);
    }

    @Test
    void aStepThatFailsEndsThem() {
        List<Integer> begun = new ArrayList<>();

        assertThatThrownBy(() -> SequentialUnis.each(List.of(1, 2, 3), thing -> {
                            begun.add(thing);
                            return thing == 2
                                    ? Uni.createFrom().failure(new IllegalStateException("two"))
                                    : Uni.createFrom().voidItem();
                        })
                        .await()
                        .indefinitely())
                .hasMessage("two");
        assertThat(begun).containsExactly(1, 2);
    }
}
