package io.quartermaster.execution.agents;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import io.quartermaster.platform.http.ShutdownNotice;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HeldCallsTest {

    private static final Duration LONG = Duration.ofMinutes(5);

    private final Vertx vertx = Vertx.vertx();
    private final ShutdownNotice notice = new ShutdownNotice();
    private final HeldCalls calls = calls();

    /** Neither Redis nor the database is asked before the start. */
    @SuppressWarnings("NullAway")
    private HeldCalls calls() {
        return new HeldCalls(null, null, null, vertx, null, notice);
    }

    @AfterEach
    void close() {
        vertx.close();
    }

    private CompletableFuture<Boolean> hold() {
        return calls.hold(UUID.randomUUID(), 1, System.nanoTime(), LONG).subscribeAsCompletionStage();
    }

    @Test
    void aShutdownEndsHeldCallsAndLaterOnes() throws Exception {
        CompletableFuture<Boolean> one = hold();
        CompletableFuture<Boolean> other = hold();
        assertThat(one).isNotDone();

        notice.onNotice(calls::endAll);
        notice.give(new ShutdownDelayInitiatedEvent());

        assertThat(one.get(10, TimeUnit.SECONDS)).isFalse();
        assertThat(other.get(10, TimeUnit.SECONDS)).isFalse();
        assertThat(hold().get(10, TimeUnit.SECONDS)).isFalse();
    }
}
