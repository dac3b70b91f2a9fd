package io.quartermaster.governance;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import java.util.List;
import java.util.function.Function;

/**
 * Runs the steps of a transaction for many objects, one after the other. A chain of as many Unis would need a stack as
 * deep as the chain is long.
 */
final class SequentialUnis {

    private SequentialUnis() {}

    static <T> Uni<Void> each(List<T> things, Function<T, Uni<?>> step) {
        return Multi.createFrom()
                .iterable(things)
                .onItem()
                .transformToUniAndConcatenate(thing -> step.apply(thing).replaceWithVoid())
                .collect()
                .last()
                .replaceWithVoid();
    }
}
