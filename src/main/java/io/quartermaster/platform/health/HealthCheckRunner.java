package io.quartermaster.platform.health;

import io.smallrye.common.vertx.VertxContext;
import io.smallrye.health.AsyncHealthCheckFactory;
import io.smallrye.health.api.AsyncHealthCheck;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import jakarta.annotation.Priority;
import jakarta.enterprise.inject.Alternative;
import jakarta.inject.Singleton;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;

/** Runs health checks on {@link HealthCheckThreads}. The framework would run them on the request threads. */
@Alternative
@Priority(1)
@Singleton
public class HealthCheckRunner extends AsyncHealthCheckFactory {

    private final Vertx vertx;
    private final HealthCheckThreads threads;

    HealthCheckRunner(Vertx vertx, HealthCheckThreads threads) {
        this.vertx = vertx;
        this.threads = threads;
    }

    @Override
    public Uni<HealthCheckResponse> callSync(HealthCheck check) {
        Context context = context();
        return super.callSync(check)
                .runSubscriptionOn(work -> threads.execute(context, work))
                .emitOn(work -> context.runOnContext(now -> work.run()));
    }

    @Override
    public Uni<HealthCheckResponse> callAsync(AsyncHealthCheck check) {
        Context context = context();
        return super.callAsync(check).runSubscriptionOn(work -> context.runOnContext(now -> work.run()));
    }

    private Context context() {
        return VertxContext.createNewDuplicatedContext(vertx.getOrCreateContext());
    }
}
