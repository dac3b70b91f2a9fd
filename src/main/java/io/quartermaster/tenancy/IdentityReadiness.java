package io.quartermaster.tenancy;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Ready once the operator's realm is there. It stays ready when Keycloak goes away later: keys of realms are kept, so the tokens that are out
 * still work, and taking all replicas out of service would help nobody.
 */
@Readiness
@ApplicationScoped
public class IdentityReadiness implements HealthCheck {

    private final OperatorRealm realm;

    IdentityReadiness(OperatorRealm realm) {
        this.realm = realm;
    }

    @Override
    public HealthCheckResponse call() {
        return realm.isReady()
                ? HealthCheckResponse.named("identity").up().build()
                : HealthCheckResponse.named("identity")
                        .down()
                        .withData("state", "starting")
                        .withData("reason", realm.waitingFor())
                        .build();
    }
}
