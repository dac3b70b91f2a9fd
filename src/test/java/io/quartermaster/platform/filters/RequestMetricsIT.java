package io.quartermaster.platform.filters;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Management;
import io.restassured.RestAssured;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Requests without a token leave nothing in the memory of the service. */
@QuarkusTest
class RequestMetricsIT {

    private static final String REQUESTS = "http_server_requests_seconds_count{";
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"([^\"]*)\"");

    @Test
    void oddRequestsOfStrangersAddNoLabels() throws IOException {
        sendOdd("oddest");
        Set<String> methods = values("method");
        Set<String> uris = values("uri");

        for (int i = 0; i < 20; i++) {
            sendOdd("odd" + i);
        }

        assertThat(values("method")).isEqualTo(methods).contains("OTHER");
        assertThat(values("uri")).isEqualTo(uris).contains("UNKNOWN");
        assertThat(metrics()).doesNotContain("odd1", "oddest");
    }

    @Test
    void labelsOfRequestsAreTemplatesOfRoutes() {
        RestAssured.get("/v1/tenants/some-tenant/queues/some-queue").then().statusCode(401);

        assertThat(series())
                .anyMatch(series -> series.contains("uri=\"/v1/tenants/{tenant}/queues/{queue}\"")
                        && series.contains("status=\"401\""))
                .noneMatch(series -> series.contains("some-"));
    }

    @Test
    void methodThatTheServiceDoesNotKnowIsRefused() {
        for (String method : Set.of("BREW", "TRACE", "Z".repeat(3000))) {
            RestAssured.given()
                    .request(method, "/v1/tenants/x/queues")
                    .then()
                    .statusCode(501)
                    .contentType("application/problem+json");
        }
    }

    private static void sendOdd(String word) throws IOException {
        exchange("M" + word + " /v1/tenants/x/queues HTTP/1.1");
        exchange("POST /v1/tenants/" + word + " HTTP/1.1");
        exchange("OPTIONS /v1/tenants/" + word + "/queues HTTP/1.1");
        exchange("OPTIONS /v1/tenants/x/queues HTTP/1.1\r\nOrigin: http://" + word
                + "\r\nAccess-Control-Request-Method: GET");
        exchange("GET /" + word + " HTTP/1.1");
        exchange("GET /v1/" + word + "?a=%zz HTTP/1.1");
        exchange("M" + word + " /" + word + " HTTP/1.1\r\nno header");
        abandon("M" + word + " /" + word + " HTTP/1.1\r\nContent-Length: 10");
        abandon("POST /" + word + " HTTP/1.1\r\nContent-Length: 10");
    }

    private static void exchange(String head) throws IOException {
        try (Socket socket = open(head + "\r\nConnection: close")) {
            assertThat(socket.getInputStream().readAllBytes()).isNotEmpty();
        }
    }

    /** Sends a request and does not wait for the answer. */
    private static void abandon(String head) throws IOException {
        open(head).close();
    }

    private static Socket open(String head) throws IOException {
        Socket socket = new Socket("localhost", RestAssured.port);
        socket.getOutputStream().write((head + "\r\nHost: localhost\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private static Set<String> values(String label) {
        return LABEL.matcher(String.join("\n", series()))
                .results()
                .filter(found -> found.group(1).equals(label))
                .map(found -> found.group(2))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> series() {
        return metrics()
                .lines()
                .filter(line -> line.startsWith(REQUESTS))
                .map(line -> line.substring(0, line.lastIndexOf(' ')))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String metrics() {
        return Management.request().get("/metrics").asString();
    }
}
