package io.quartermaster.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.agent.AgentConfig.Credentials;
import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The node's access token, by the client credentials grant (RFC 6749, section 4.4); kept until a fifth of its life
 * is left. Threads: one at a time.
 */
final class Tokens {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final HttpClient http;
    private final ObjectMapper json;
    private final Credentials credentials;
    private @Nullable String token;
    private long renewAtNanos;

    Tokens(HttpClient http, ObjectMapper json, Credentials credentials) {
        this.http = http;
        this.json = json;
        this.credentials = credentials;
    }

    /** Asks for a new one when the last is nearly used up or was dropped. */
    String current() throws IOException, InterruptedException {
        String kept = token;
        if (kept != null && System.nanoTime() - renewAtNanos < 0) {
            return kept;
        }
        String form = "grant_type=client_credentials&client_id=%s&client_secret=%s"
                .formatted(encode(credentials.clientId()), encode(credentials.clientSecret()));
        HttpRequest request = HttpRequest.newBuilder(credentials.tokenEndpoint())
                .timeout(LIMIT)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form))
                .build();
        long sentAtNanos = System.nanoTime();
        HttpResponse<String> response = ServiceClient.send(http, request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException("%s gives no token to client %s: status %d"
                    .formatted(credentials.tokenEndpoint(), credentials.clientId(), response.statusCode()));
        }
        JsonNode body = json.readTree(response.body());
        String fresh = body.path("access_token").asText("");
        if (fresh.isEmpty()) {
            throw new IOException("%s answered without a token".formatted(credentials.tokenEndpoint()));
        }
        token = fresh;
        renewAtNanos =
                sentAtNanos + TimeUnit.SECONDS.toNanos(body.path("expires_in").asLong(60)) / 5 * 4;
        return fresh;
    }

    /** The service did not accept the last one. */
    void drop() {
        token = null;
    }

    private static String encode(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }
}
