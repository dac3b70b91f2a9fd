package io.quartermaster.dispatch;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.Locale;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/**
 * The readiness check of a replica: it shows whether the replica leads and whether its cycles succeed. The replica is
 * ready in either case: it serves requests, and a restart does not fix a failing plan.
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
                .withData("failedCycles", status.failedCycles());
        status.epoch().ifPresent(epoch -> response.withData("epoch", epoch));
        if (status.failedCycles() > 0) {
            response.withData("state", "cycles fail: the leader applies reports, but plans nothing");
        } else if (status.role() == Dispatcher.Role.OFF) {
            response.withData("state", "off: quartermaster.dispatch.enabled is false, so this replica never leads");
        } else {
            response.withData("state", "well");
        }
        return response.build();
    }
}
