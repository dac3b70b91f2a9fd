package io.quartermaster.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smallrye.mutiny.TimeoutException;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CallBatcherTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Vertx vertx = Vertx.vertx();
    private final BlockingQueue<Batch> batches = new LinkedBlockingQueue<>();

    /** A batch that waits for its answers. */
    private record Batch(List<Integer> questions, UniEmitter<? super List<String>> emitter) {

        void answer() {
            emitter.complete(
                    questions.stream().map(question -> "answer " + question).toList());
        }
    }

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private CallBatcher<Integer, String> batcher(int max) {
        return batcher(max, PATIENCE);
    }

    private CallBatcher<Integer, String> batcher(int max, Duration limit) {
        return new CallBatcher<>(vertx, max, limit, questions -> Uni.createFrom()
                .emitter(emitter -> batches.add(new Batch(questions, emitter))));
    }

    private Batch next() throws InterruptedException {
        Batch batch = batches.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertThat(batch).isNotNull();
        return batch;
    }

    private static String join(CompletableFuture<String> answer) {
        return answer.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    @Test
    void callsThatComeDuringABatchFormTheNextOne() throws InterruptedException {
        CallBatcher<Integer, String> batcher = batcher(100);
        CompletableFuture<String> first = batcher.call(1).subscribeAsCompletionStage();
        Batch running = next();
        List<CompletableFuture<String>> later = new ArrayList<>();
        for (int i = 2; i <= 4; i++) {
            later.add(batcher.call(i).subscribeAsCompletionStage());
        }
        assertThat(batches).isEmpty();

        running.answer();
        Batch second = next();
        second.answer();

        assertThat(running.questions()).containsExactly(1);
        assertThat(second.questions()).containsExactly(2, 3, 4);
        assertThat(join(first)).isEqualTo("answer 1");
        assertThat(later.stream().map(CallBatcherTest::join)).containsExactly("answer 2", "answer 3", "answer 4");
    }

    @Test
    void aBatchIsNeverLargerThanItsLimit() throws InterruptedException {
        CallBatcher<Integer, String> batcher = batcher(2);
        List<CompletableFuture<String>> calls = new ArrayList<>();
        calls.add(batcher.call(1).subscribeAsCompletionStage());
        Batch running = next();
        for (int i = 2; i <= 4; i++) {
            calls.add(batcher.call(i).subscribeAsCompletionStage());
        }

        running.answer();
        Batch second = next();
        second.answer();
        Batch third = next();
        third.answer();

        assertThat(second.questions()).containsExactly(2, 3);
        assertThat(third.questions()).containsExactly(4);
        assertThat(join(calls.getLast())).isEqualTo("answer 4");
    }

    @Test
    void aFailedBatchFailsItsOwnCallsOnly() throws InterruptedException {
        CallBatcher<Integer, String> batcher = batcher(100);
        CompletableFuture<String> first = batcher.call(1).subscribeAsCompletionStage();
        Batch running = next();
        CompletableFuture<String> second = batcher.call(2).subscribeAsCompletionStage();

        running.emitter().fail(new IllegalStateException("as told"));
        next().answer();

        assertThatThrownBy(() -> join(first)).hasRootCauseMessage("as told");
        assertThat(join(second)).isEqualTo("answer 2");
    }

    @Test
    void aBatchThatHangsFailsItsCallsAndHoldsUpNoOthers() throws InterruptedException {
        CallBatcher<Integer, String> batcher = batcher(100, Duration.ofSeconds(1));
        CompletableFuture<String> hanging = batcher.call(1).subscribeAsCompletionStage();
        next();
        CompletableFuture<String> later = batcher.call(2).subscribeAsCompletionStage();

        next().answer();

        assertThatThrownBy(() -> join(hanging)).hasRootCauseInstanceOf(TimeoutException.class);
        assertThat(join(later)).isEqualTo("answer 2");
    }

    @Test
    void answersThatDoNotFitTheCallsFailThem() throws InterruptedException {
        CompletableFuture<String> call = batcher(100).call(1).subscribeAsCompletionStage();

        next().emitter().complete(List.of());

        assertThatThrownBy(() -> join(call)).hasRootCauseInstanceOf(IllegalStateException.class);
    }
}
