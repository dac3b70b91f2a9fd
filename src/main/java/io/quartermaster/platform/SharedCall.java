package io.quartermaster.platform;

import io.smallrye.mutiny.Uni;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One call whose answer several listeners get. The first listener starts it; a listener that gives up leaves it alone.
 *
 * <p>It stands in for {@code Uni.memoize()} of Mutiny 3.1, which registers a listener before it announces the subscription: an answer that
 * comes between the two reaches a {@code chain} as if it were the result of the chain's own next step, and ends in a
 * {@link ClassCastException}.
 *
 * <p>Safe for use by several threads. Listeners hear the answer on the thread that brings it, or on their own if it is there already.
 */
public final class SharedCall<T> {

    private final Uni<T> call;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final AtomicBoolean started = new AtomicBoolean();

    /** @param call what the first listener starts, once */
    public SharedCall(Uni<T> call) {
        this.call = call;
    }

    /** The answer, or the failure, for one more listener. */
    public Uni<T> answer() {
        return Uni.createFrom().emitter(emitter -> {
            answer.whenComplete((item, failure) -> {
                if (failure == null) {
                    emitter.complete(item);
                } else {
                    emitter.fail(failure);
                }
            });
            if (started.compareAndSet(false, true)) {
                call.subscribe().with(answer::complete, answer::completeExceptionally);
            }
        });
    }
}
