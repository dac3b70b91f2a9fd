package io.quartermaster.platform;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.http.runtime.VertxHttpConfig;
import io.restassured.RestAssured;
import io.vertx.core.net.SocketAddress;
import jakarta.inject.Inject;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the listener of the API bounds, and what it says with every answer. */
@QuarkusTest
class RequestLimitsIT {

    private static final SocketAddress HERE = SocketAddress.inetSocketAddress(1, "127.0.0.1");

    @Inject
    RequestRates rates;

    @Inject
    VertxHttpConfig listener;

    @Test
    void anAddressThatSendsTooMuchWithoutATokenIsToldToWait() {
        rates.drain(HERE);
        try {
            given().header("X-Forwarded-For", "192.0.2.7")
                    .get("/v1/tenants/some/queues")
                    .then()
                    .statusCode(429)
                    .contentType("application/problem+json")
                    .header("Retry-After", equalTo("1"))
                    .body("code", equalTo("too-many-requests"));
        } finally {
            rates.reset(HERE);
        }
        RestAssured.get("/v1/tenants/some/queues").then().statusCode(401);
    }

    @Test
    void everyAnswerForbidsGuessingAndKeepingIt() {
        for (String path : new String[] {"/openapi", "/v1/tenants/some/queues", "/nothing"}) {
            RestAssured.get(path)
                    .then()
                    .header("X-Content-Type-Options", equalTo("nosniff"))
                    .header("Cache-Control", equalTo("no-store"))
                    .header("Strict-Transport-Security", nullValue());
        }
    }

    @Test
    void silentConnectionsAndTheirNumberAreBounded() {
        assertThat(listener.idleTimeout()).isEqualTo(Duration.ofSeconds(60));
        assertThat(listener.limits().maxConnections()).isPresent();
    }
}
