package io.quartermaster.platform;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.http.runtime.VertxHttpConfig;
import io.quartermaster.platform.filters.RequestRateLimiter;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.Management;
import io.restassured.RestAssured;
import io.vertx.core.net.SocketAddress;
import jakarta.inject.Inject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The limits of the API's listener, and the headers of all its answers. */
@QuarkusTest
class RequestLimitsIT {

    private static final Pattern CONTENT_LENGTH = Pattern.compile("(?i)\r\ncontent-length: *([0-9]+)\r\n");
    private static final SocketAddress HERE = SocketAddress.inetSocketAddress(1, "127.0.0.1");

    @Inject
    RequestRateLimiter rates;

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

    private static final int MORE_THAN_A_BODY = 9 * 1024 * 1024;

    /** The answer to a hand-written request, up to its end, or to the end of its connection. */
    private static String answer(String head, byte[] body) throws IOException {
        return answer(URI.create("http://localhost:" + RestAssured.port), head, body);
    }

    private static String answer(URI listener, String head, byte[] body) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", listener.getPort())) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write(head.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().write(body);
            socket.getOutputStream().flush();
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            byte[] bytes = new byte[8_192];
            int n = 0;
            try {
                while (n >= 0 && !isComplete(answer)) {
                    answer.write(bytes, 0, n);
                    n = socket.getInputStream().read(bytes);
                }
            } catch (SocketTimeoutException e) {
                // The connection stays open; the bytes so far are the answer.
            }
            return answer.toString(StandardCharsets.UTF_8);
        }
    }

    /** Whether the answer has as many bytes as its header says; the connection may stay open. */
    private static boolean isComplete(ByteArrayOutputStream answer) {
        String text = answer.toString(StandardCharsets.ISO_8859_1);
        int body = text.indexOf("\r\n\r\n") + 4;
        Matcher length = CONTENT_LENGTH.matcher(text);
        return body >= 4 && length.find() && text.length() - body >= Integer.parseInt(length.group(1));
    }

    private static void requireTooLarge(String answer) {
        assertThat(answer)
                .startsWith("HTTP/1.1 413")
                .containsIgnoringCase("content-type: application/problem+json")
                .contains("\"code\":\"too-large\"", "\"accepted\":\"at most 8388608 bytes\"");
    }

    @Test
    void aBodyThatIsSaidToBeTooLargeIsRefusedInAProblem() throws IOException {
        requireTooLarge(answer(
                "POST /v1/operator/tenants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                        + TestTenants.operatorToken() + "\r\nContent-Type: application/json\r\nContent-Length: "
                        + MORE_THAN_A_BODY + "\r\n\r\n",
                new byte[MORE_THAN_A_BODY]));
    }

    @Test
    void aBodyThatTurnsOutToBeTooLargeIsRefusedInAProblem() throws IOException {
        byte[] body = new byte[MORE_THAN_A_BODY];
        Arrays.fill(body, (byte) ' ');
        ByteArrayOutputStream chunks = new ByteArrayOutputStream();
        chunks.writeBytes((Integer.toHexString(body.length) + "\r\n").getBytes(StandardCharsets.US_ASCII));
        chunks.writeBytes(body);
        chunks.writeBytes("\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        requireTooLarge(answer(
                "POST /v1/operator/tenants HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
                        + TestTenants.operatorToken()
                        + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
                chunks.toByteArray()));
    }

    @Test
    void aMalformedOrMissingHostIsRefusedInAProblem() throws IOException {
        for (String host : List.of("Host: a b c\r\n", "Host: [\r\n", "Host: x:y:z\r\n", "")) {
            for (URI listener : List.of(URI.create("http://localhost:" + RestAssured.port), Management.address())) {
                assertThat(answer(listener, "GET /v1/operator/tenants HTTP/1.1\r\n" + host + "\r\n", new byte[0]))
                        .as("%s at %s", host, listener)
                        .startsWith("HTTP/1.1 400")
                        .containsIgnoringCase("content-type: application/problem+json")
                        .containsIgnoringCase("x-content-type-options: nosniff")
                        .contains("\"field\":\"Host\"", "\"accepted\"");
            }
        }
    }
}
