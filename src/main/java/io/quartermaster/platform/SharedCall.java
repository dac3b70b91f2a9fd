package io.quartermaster.platform;

import io.smallrye.mutiny.Uni;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One call whose answer several listeners get. The first listener starts it; a listener that cancels does not cancel
 * the call.
 *
 * <p>It replaces {@code Uni.memoize()} of Mutiny 3.1, which registers a listener before it announces the subscription.
 * A {@code chain} takes an answer that arrives between the two for the result of its own next step, and throws a
 * {@link ClassCastException}.
 *
 * <p>Safe for use by several threads. Listeners receive the answer on the thread that completes the call, or on their
 * own thread if the call has completed already.
 */
public final class SharedCall<T> {

    private final Uni<T> call;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    private final AtomicBoolean started = new AtomicBoolean();

    /** @param call the call, which the first listener starts once */
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
