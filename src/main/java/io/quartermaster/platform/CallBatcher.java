package io.quartermaster.platform;

import io.smallrye.common.vertx.VertxContext;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Combines calls into batches: the calls that come while one batch runs form the next one. So a single call waits for
 * nothing, and under load the number of batches does not grow with the number of calls.
 *
 * <p>One batch runs at a time, on an event loop of its own. A caller gets its answer on its own Vert.x context, or on
 * the batch's event loop if it has none. If a batch fails, all its calls fail with that failure. A batch
 * that takes too long fails with a {@link io.smallrye.mutiny.TimeoutException}, and the next one begins: one lost
 * connection must not stop all calls. Safe for use by several threads.
 */
public final class CallBatcher<Q, A> {

    private final Vertx vertx;
    private final int maxBatchSize;
    private final Duration timeout;
    private final Function<List<Q>, Uni<List<A>>> batch;
    private final Queue<PendingCall<Q, A>> waiting = new ArrayDeque<>();
    private @Nullable Context context;
    private boolean running;

    private record PendingCall<Q, A>(
            Q question,
            UniEmitter<? super A> emitter,
            @Nullable Context caller) {

        void answer(A answer) {
            onCaller(() -> emitter.complete(answer));
        }

        void fail(Throwable failure) {
            onCaller(() -> emitter.fail(failure));
        }

        private void onCaller(Runnable step) {
            Context own = caller;
            if (own == null) {
                step.run();
            } else {
                own.runOnContext(ignored -> step.run());
            }
        }
    }

    /**
     * @param maxBatchSize the most calls of one batch; further ones wait for the next
     * @param timeout the longest time for which a batch may run
     * @param batch answers the calls of one batch, in their order
     */
    public CallBatcher(Vertx vertx, int maxBatchSize, Duration timeout, Function<List<Q>, Uni<List<A>>> batch) {
        this.vertx = vertx;
        this.maxBatchSize = maxBatchSize;
        this.timeout = timeout;
        this.batch = batch;
    }

    /** The answer to one call, which may become part of a batch when it is subscribed to. */
    public Uni<A> call(Q question) {
        return Uni.createFrom()
                .emitter(emitter -> enqueue(new PendingCall<>(question, emitter, Vertx.currentContext())));
    }

    private void enqueue(PendingCall<Q, A> call) {
        Context own;
        synchronized (this) {
            waiting.add(call);
            if (running) {
                return;
            }
            running = true;
            if (context == null) {
                // Not the caller's own context, which ends with its request.
                context = VertxContext.getRootContext(vertx.getOrCreateContext());
            }
            own = context;
        }
        own.runOnContext(ignored -> runNext());
    }

    private void runNext() {
        List<PendingCall<Q, A>> calls = new ArrayList<>();
        synchronized (this) {
            while (calls.size() < maxBatchSize) {
                PendingCall<Q, A> next = waiting.poll();
                if (next == null) {
                    break;
                }
                calls.add(next);
            }
            if (calls.isEmpty()) {
                running = false;
                return;
            }
        }
        Uni.createFrom()
                .deferred(() ->
                        batch.apply(calls.stream().map(PendingCall::question).toList()))
                .ifNoItem()
                .after(timeout)
                .fail()
                .subscribe()
                .with(answers -> finish(calls, answers), failure -> {
                    calls.forEach(call -> call.fail(failure));
                    runNext();
                });
    }

    private void finish(List<PendingCall<Q, A>> calls, List<A> answers) {
        if (answers.size() != calls.size()) {
            IllegalStateException misuse =
                    new IllegalStateException(calls.size() + " calls of a batch got " + answers.size() + " answers");
            calls.forEach(call -> call.fail(misuse));
        } else {
            for (int i = 0; i < calls.size(); i++) {
                calls.get(i).answer(answers.get(i));
            }
        }
        runNext();
    }
}
