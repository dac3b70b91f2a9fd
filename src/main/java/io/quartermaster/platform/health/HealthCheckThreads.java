package io.quartermaster.platform.health;

import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import jakarta.annotation.PreDestroy;
import jakarta.inject.Singleton;

/** The threads of health checks and metrics, which therefore answer also when requests occupy all other threads. */
@Singleton
public class HealthCheckThreads {

    /** A check may wait some seconds; this many run at a time. */
    private static final int THREADS = 4;

    private final WorkerExecutor threads;

    HealthCheckThreads(Vertx vertx) {
        threads = vertx.createSharedWorkerExecutor("probes", THREADS);
    }

    /** @param context of the work, which the checks of data sources need */
    public void execute(Context context, Runnable work) {
        context.runOnContext(now -> threads.executeBlocking(
                () -> {
                    work.run();
                    return true;
                },
                false));
    }

    @PreDestroy
    void stop() {
        threads.close();
    }
}
