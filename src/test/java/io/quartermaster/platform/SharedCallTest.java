package io.quartermaster.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smallrye.mutiny.Uni;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class SharedCallTest {

    @Test
    void theCallIsMadeOnceAndEveryListenerHearsItsAnswer() {
        AtomicInteger calls = new AtomicInteger();
        SharedCall<Integer> shared = new SharedCall<>(Uni.createFrom().item(calls::incrementAndGet));
        assertThat(calls).hasValue(0);

        assertThat(List.of(
                        shared.answer().await().indefinitely(),
                        shared.answer().await().indefinitely()))
                .containsExactly(1, 1);
    }

    @Test
    void everyListenerHearsTheFailure() {
        SharedCall<Integer> shared = new SharedCall<>(Uni.createFrom().failure(new IllegalStateException("no")));

        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> shared.answer().await().indefinitely()).hasMessageContaining("no");
        }
    }

    @Test
    void aListenerThatGivesUpLeavesTheCallToTheOthers() throws Exception {
        CompletableFuture<Integer> arrival = new CompletableFuture<>();
        SharedCall<Integer> shared =
                new SharedCall<>(Uni.createFrom().emitter(call -> arrival.thenAccept(call::complete)));
        shared.answer().subscribe().with(item -> {}).cancel();
        CompletableFuture<Integer> other = shared.answer().subscribeAsCompletionStage();

        arrival.complete(7);

        assertThat(other.get(10, TimeUnit.SECONDS)).isEqualTo(7);
    }
}
