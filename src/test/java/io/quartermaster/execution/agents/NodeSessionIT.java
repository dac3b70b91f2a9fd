package io.quartermaster.execution.agents;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.testing.WithoutLeader;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The sessions of nodes, which need no Keycloak. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class NodeSessionIT extends AgentCalls {

    @Test
    void aNodesSessionNeedsNoKeycloakAndOpensTheNextOne() {
        Bound bound = bind("lease-session");
        String token = opened(bound);

        assertThat(statusOfSync(bound, token)).isEqualTo(400);
        String next = given().header("Authorization", "Bearer " + token)
                .post("/v1/nodes/" + bound.nodeName() + "/sessions")
                .then()
                .statusCode(201)
                .header("Cache-Control", "no-store")
                .extract()
                .path("token");
        assertThat(statusOfSync(bound, next)).isEqualTo(400);
        assertThat(run("select 1 from node_session where node_id = $1", bound.node()))
                .hasSize(2);
    }

    @Test
    void aNodesSessionOpensNothingElse() {
        Bound bound = bind("lease-own");
        Bound other = bind("lease-other");
        String token = opened(bound);

        assertThat(statusOfSync(other, token)).isEqualTo(404);
        given().header("Authorization", "Bearer " + token)
                .get("/v1/operator/nodes")
                .then()
                .statusCode(403);
        given().header("Authorization", "Bearer " + token)
                .get("/v1/tenants/" + bound.tenant() + "/workloads")
                .then()
                .statusCode(404);
    }

    @Test
    void sessionsEndWithTheirTimeAndWithTheirNode() {
        Bound bound = bind("lease-ended");
        String token = opened(bound);
        assertThat(statusOfSync(bound, token + "x")).isEqualTo(401);

        run("update node_session set expires_at = clock_timestamp() where node_id = $1", bound.node());
        assertThat(statusOfSync(bound, token)).isEqualTo(401);

        String another = opened(bound);
        run("update node set retired_at = clock_timestamp() where id = $1", bound.node());
        assertThat(statusOfSync(bound, another)).isEqualTo(401);
    }

    @Test
    void anAccessTokenFromBeforeTheCredentialOpensNoSession() {
        Bound bound = bind("lease-rotated");

        assertThatThrownBy(() -> open(bound, Instant.now().minusSeconds(60)))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        e -> assertThat(e.problem().code()).isEqualTo("credential-is-newer"));
    }

    /** The status of an empty report: 400 for an agent of the node. */
    private static int statusOfSync(Bound bound, String token) {
        return given().header("Authorization", "Bearer " + token)
                .contentType("application/json")
                .body("{}")
                .post("/v1/nodes/" + bound.nodeName() + "/sync")
                .statusCode();
    }
}
