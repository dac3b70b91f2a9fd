package io.quartermaster.tenancy;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Says whether the operator's realm was seen: {@code made}, or {@code waiting} and for what. The service is ready all the same; until then it
 * has nobody to serve.
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
