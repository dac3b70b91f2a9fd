package io.quartermaster.dispatch;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.Locale;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/**
 * Says whether this replica leads and how its turns go. The replica is ready all the same: it serves requests, and a restart mends no plan.
 */
@Readiness
@ApplicationScoped
public class LeaderReadiness implements HealthCheck {

    private final Dispatcher dispatcher;

    LeaderReadiness(Dispatcher dispatcher) {
        this.dispatcher = dispatcher;
    }

    @Override
    public HealthCheckResponse call() {
        Dispatcher.Status status = dispatcher.status();
        HealthCheckResponseBuilder response = HealthCheckResponse.named("leader")
                .up()
                .withData("role", status.role().name().toLowerCase(Locale.ROOT))
                .withData("failedTurns", status.failedTurns());
        status.epoch().ifPresent(epoch -> response.withData("epoch", epoch));
        if (status.failedTurns() > 0) {
            response.withData("state", "turns fail: reports are applied, but nothing is planned");
        } else {
            response.withData("state", "well");
        }
        return response.build();
    }
}
