package io.quartermaster.tenancy;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Reports whether the operator's realm was confirmed: {@code made}, or {@code waiting} with the reason. The service is
 * ready in both cases; while it waits, it only refuses the operator's tokens.
 */
@Readiness
@ApplicationScoped
public class OperatorRealmReadiness implements HealthCheck {

    private final OperatorRealm realm;

    OperatorRealmReadiness(OperatorRealm realm) {
        this.realm = realm;
    }

    @Override
    public HealthCheckResponse call() {
        return realm.isReady()
                ? HealthCheckResponse.named("operator-realm")
                        .up()
                        .withData("state", "made")
                        .build()
                : HealthCheckResponse.named("operator-realm")
                        .up()
                        .withData("state", "waiting")
                        .withData("reason", realm.waitingFor())
                        .build();
    }
}
