package io.quartermaster.platform.filters;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Management;
import io.restassured.RestAssured;
import io.restassured.config.HttpClientConfig;
import io.restassured.config.RestAssuredConfig;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Health and metrics have their own listener, which does not serve web pages. */
@QuarkusTest
class ManagementGuardIT {

    private static final int MORE_THAN_ALL_THREADS = 1_000;

    private static final RestAssuredConfig TIME_LIMIT = RestAssuredConfig.config()
            .httpClient(HttpClientConfig.httpClientConfig()
                    .setParam("http.connection.timeout", 5_000)
                    .setParam("http.socket.timeout", 5_000));

    @Test
    void healthAndMetricsAreServed() {
        for (String path : List.of("/health/ready", "/health/live", "/health/started", "/metrics")) {
            assertThat(Management.request().get(path).statusCode()).as(path).isEqualTo(200);
        }
    }

    @Test
    void healthAndMetricsAreServedWhileRequestsHaveAllThreads() throws InterruptedException {
        CountDownLatch taken = new CountDownLatch(MORE_THAN_ALL_THREADS);
        CountDownLatch release = new CountDownLatch(1);
        for (int i = 0; i < MORE_THAN_ALL_THREADS; i++) {
            Infrastructure.getDefaultExecutor().execute(() -> {
                taken.countDown();
                await(release);
            });
        }
        try {
            assertThat(taken.await(2, TimeUnit.SECONDS))
                    .as("some wait for a thread")
                    .isFalse();
            for (String path : List.of("/health/ready", "/health/live", "/health/started", "/metrics")) {
                assertThat(Management.request().config(TIME_LIMIT).get(path).statusCode())
                        .as(path)
                        .isEqualTo(200);
            }
        } finally {
            release.countDown();
        }
    }

    private static void await(CountDownLatch release) {
        try {
            release.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theApiListenerServesNeither() {
        for (String path :
                List.of("/health", "/metrics", "/v1/../metrics", "/v1/%2e%2e/metrics", "/openapi/../health")) {
            assertThat(RestAssured.given().urlEncodingEnabled(false).get(path).statusCode())
                    .as(path)
                    .isIn(400, 401, 404);
        }
    }

    @Test
    void theManagementListenerServesNothingElse() {
        for (String path : List.of("/openapi", "/v1/tenants/x/queues", "/")) {
            assertThat(Management.request().get(path).statusCode()).as(path).isEqualTo(404);
        }
        assertThat(Management.request().post("/metrics").statusCode()).isEqualTo(405);
    }

    @Test
    void theApiListenerAnswersToLoopbackNamesOnly() {
        for (String path : List.of("/v1/tenants", "/openapi", "/v1/no-such-path")) {
            assertThat(RestAssured.given()
                            .header("Host", "page.example")
                            .get(path)
                            .asString())
                    .as("%s for a page that gave its own name to this machine", path)
                    .contains("allowed-hosts");
        }
        for (String host : List.of("localhost", "LOCALHOST:8080", "127.0.0.1:8080", "[::1]:8080")) {
            assertThat(RestAssured.given().header("Host", host).get("/openapi").statusCode())
                    .as(host)
                    .isEqualTo(200);
        }
    }

    @Test
    void webPagesAreRefused() {
        assertThat(Management.request()
                        .header("Host", "page.example")
                        .get("/metrics")
                        .statusCode())
                .as("a page that gave its own name to this machine")
                .isEqualTo(403);
        assertThat(Management.request()
                        .header("Origin", "https://page.example")
                        .get("/metrics")
                        .statusCode())
                .as("a page of another origin")
                .isEqualTo(403);
    }
}
