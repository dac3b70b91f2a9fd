package io.quartermaster.access.keycloak;

import io.quartermaster.access.Realm;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ProblemMappers;
import jakarta.ws.rs.core.Response;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/** What a caller hears when Keycloak fails: whether to try again. What Keycloak said goes to the log. */
public final class KeycloakFailureMapper {

    private static final Logger LOG = Logger.getLogger(KeycloakFailureMapper.class);

    private final ProblemMappers problems;

    KeycloakFailureMapper(ProblemMappers problems) {
        this.problems = problems;
    }

    @ServerExceptionMapper
    public Response failed(KeycloakFailure e) {
        LOG.warnf("a request failed on Keycloak: %s", e.getMessage());
        return problems.problem(problem(e));
    }

    static ProblemException problem(KeycloakFailure e) {
        if (e.isAway()) {
            return ProblemException.of(503, "identity-unavailable", "Keycloak does not answer just now; try again");
        }
        return e.missingRealm()
                        .filter(realm -> !realm.equals(Realm.OPERATOR_NAME))
                        .isPresent()
                ? ProblemException.of(
                        404,
                        "realm-not-found",
                        "The tenant's realm is not in Keycloak: it is not made yet, or it was deleted. Read the state of the tenant, and try again when it is active.")
                : ProblemException.of(
                        502,
                        "identity-refused",
                        "Keycloak refused or failed at a step that this request needs; its answer is in the log of the service. Ask the operator to look there");
    }
}
