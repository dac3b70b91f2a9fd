package io.quartermaster.platform.health;

import io.netty.util.concurrent.EventExecutor;
import io.vertx.core.Vertx;
import io.vertx.core.impl.VertxInternal;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/**
 * Checks that every event loop takes work. Each connection belongs to one loop, so a service with a blocked loop
 * answers some callers and not others. The loop that serves the probe proves nothing about the others.
 */
@Liveness
@ApplicationScoped
public class EventLoopsLiveness implements HealthCheck {

    /** Shorter than the timeout of probes. */
    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private final Vertx vertx;

    EventLoopsLiveness(Vertx vertx) {
        this.vertx = vertx;
    }

    /** Runs on a worker thread, which may wait. */
    @Override
    public HealthCheckResponse call() {
        List<EventExecutor> loops = new ArrayList<>();
        ((VertxInternal) vertx).getEventLoopGroup().forEach(loops::add);
        CountDownLatch answers = new CountDownLatch(loops.size());
        loops.forEach(loop -> loop.execute(answers::countDown));
        boolean all = awaited(answers);
        return HealthCheckResponse.named("event-loops")
                .status(all)
                .withData("loops", loops.size())
                .withData("blocked", all ? 0 : answers.getCount())
                .build();
    }

    private static boolean awaited(CountDownLatch answers) {
        try {
            return answers.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
