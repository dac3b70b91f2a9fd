package io.quartermaster.platform.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.impl.VertxInternal;
import java.util.concurrent.CountDownLatch;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EventLoopsLivenessTest {

    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(3));
    private final EventLoopsLiveness liveness = new EventLoopsLiveness(vertx);

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void oneBlockedLoopOfSeveralIsFound() {
        assertThat(liveness.call().getStatus()).isEqualTo(HealthCheckResponse.Status.UP);
        CountDownLatch release = new CountDownLatch(1);
        ((VertxInternal) vertx).getEventLoopGroup().next().execute(() -> await(release));

        HealthCheckResponse blocked = liveness.call();
        release.countDown();

        assertThat(blocked.getStatus()).isEqualTo(HealthCheckResponse.Status.DOWN);
        assertThat(blocked.getData().orElseThrow()).containsEntry("loops", 3L).containsEntry("blocked", 1L);
        assertThat(liveness.call().getStatus()).isEqualTo(HealthCheckResponse.Status.UP);
    }

    private static void await(CountDownLatch release) {
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
