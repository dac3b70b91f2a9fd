package io.quartermaster.access.keycloak;

import io.quartermaster.access.Realm;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ProblemMappers;
import jakarta.ws.rs.core.Response;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;

/**
 * Maps a failure of Keycloak to the problem that the caller receives: whether to try again. Keycloak's own answer goes
 * to the log.
 */
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
        if (e.isUnavailable()) {
            return ProblemException.of(
                    503, "identity-unavailable", "Keycloak does not answer; send the request again later");
        }
        return e.missingRealm()
                        .filter(realm -> !realm.equals(Realm.OPERATOR_NAME))
                        .isPresent()
                ? ProblemException.of(
                        404,
                        "realm-not-found",
                        "The tenant's realm is not in Keycloak: it does not exist yet, or it was deleted. Read the "
                                + "state of the tenant, and try again when it is active.")
                : ProblemException.of(
                        502,
                        "identity-refused",
                        "Keycloak refused a step that this request needs, or failed at it; its answer is in the log "
                                + "of the service. Ask the operator to read it");
    }
}
