package io.quartermaster.cli.demo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A client of the public API, with a token of its realm that it renews in time. It repeats requests to a service that
 * is unavailable or starting. Each POST carries an {@code Idempotency-Key}, so a repetition has no further effect.
 */
public final class ApiClient {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
    /** As long as a service takes to start again on a busy machine. */
    private static final Duration UNAVAILABLE_TIMEOUT = Duration.ofMinutes(2);

    private static final Set<Integer> UNAVAILABLE_STATUSES = Set.of(502, 503, 504);
    private static final Set<Integer> BAD_INPUT_STATUSES = Set.of(400, 422);
    private static final Duration RETRY_INTERVAL = Duration.ofMillis(250);
    /** Keycloak refuses a user who logs in elsewhere at the same moment just as it refuses a wrong password. */
    private static final int MAX_LOGIN_ATTEMPTS = 5;

    /** Longer than the second within which Keycloak treats two logins as an attack. */
    private static final Duration LOGIN_RETRY_DELAY = Duration.ofMillis(1_500);

    private static final long TOKEN_RENEWAL_MARGIN_NANOS =
            Duration.ofSeconds(20).toNanos();

    private final HttpClient http;
    private final String url;
    private final URI tokenUrl;
    private final Map<String, String> grant;
    private String token = "";
    private long renewAtNanos = System.nanoTime();

    private ApiClient(HttpClient http, String url, URI tokenUrl, Map<String, String> grant) {
        this.http = http;
        this.url = url;
        this.tokenUrl = tokenUrl;
        this.grant = grant;
    }

    /** A client for a service account of a realm. */
    public static ApiClient ofClient(String url, String keycloakUrl, String realm, String clientId, String secret) {
        return of(
                url,
                keycloakUrl,
                realm,
                Map.of("grant_type", "client_credentials", "client_id", clientId, "client_secret", secret));
    }

    /** A client for a user of a realm that accepts passwords from programs: demonstrations only. */
    public static ApiClient ofUser(String url, String keycloakUrl, String realm, String username, String password) {
        return of(
                url,
                keycloakUrl,
                realm,
                Map.of("grant_type", "password", "client_id", "portal", "username", username, "password", password));
    }

    private static ApiClient of(String url, String keycloakUrl, String realm, Map<String, String> grant) {
        URI token = URI.create(keycloakUrl + "/realms/" + realm + "/protocol/openid-connect/token");
        HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return new ApiClient(http, url, token, new LinkedHashMap<>(grant));
    }

    /** An answer of the service. */
    public record Answer(int status, JsonNode body, Optional<String> etag) {

        boolean isSuccess() {
            return status >= 200 && status < 300;
        }

        /** A text for messages: the problem's own words, and each field that was refused. */
        String problemText() {
            StringBuilder text = new StringBuilder(
                    "HTTP " + status + ": " + body.path("detail").asText(body.toString()));
            for (JsonNode error : body.path("errors")) {
                String field = error.path("field").asText() + ": "
                        + error.path("message").asText();
                // The detail of a problem with one field names that field already.
                if (text.indexOf(field) < 0) {
                    text.append("; ").append(field);
                }
                if (error.hasNonNull("accepted")) {
                    text.append(" (accepted: ")
                            .append(error.path("accepted").asText())
                            .append(")");
                }
            }
            return text.toString();
        }
    }

    public Answer get(String path) {
        return send("GET", path, null);
    }

    public Answer post(String path, Object body) {
        return send("POST", path, body);
    }

    public Answer put(String path, Object body) {
        return send("PUT", path, body);
    }

    /** Changes the object at this version. */
    Answer patch(String path, long version, Object body) {
        return send("PATCH", path, body, Map.of("If-Match", "\"" + version + "\""));
    }

    /**
     * Like {@link #get}, {@link #post}, {@link #put}, but an answer other than success ends the command with the
     * service's message.
     */
    public JsonNode require(Answer answer) {
        if (!answer.isSuccess()) {
            throw new ApiFailure(answer.problemText(), BAD_INPUT_STATUSES.contains(answer.status()));
        }
        return answer.body();
    }

    /** Waits for the operation of a 202 answer, however long it takes; ends the command when it fails. */
    JsonNode awaitOperation(JsonNode operation) {
        String path = "/v1/operator/operations/" + operation.path("id").asText();
        while (true) {
            JsonNode now = require(get(path));
            switch (now.path("state").asText()) {
                case "succeeded" -> {
                    return now;
                }
                case "failed" ->
                    throw new ApiFailure(now.path("kind").asText() + " failed: "
                            + now.path("error").path("message").asText());
                default -> pause();
            }
        }
    }

    /** Audits the stored usage, and returns the result. */
    public JsonNode runAudit(Map<String, String> request) {
        JsonNode done = awaitOperation(require(post("/v1/operator/audits", request)));
        return require(get("/v1/operator/audits/" + done.path("id").asText()));
    }

    private Answer send(String method, String path, @Nullable Object body) {
        return send(method, path, body, Map.of());
    }

    private Answer send(String method, String path, @Nullable Object body, Map<String, String> headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + path))
                .timeout(REQUEST_TIMEOUT)
                .header("Authorization", "Bearer " + validToken())
                .header("Accept", "application/json, text/plain;q=0.9");
        headers.forEach(request::header);
        if (method.equals("POST")) {
            request.header("Idempotency-Key", UUID.randomUUID().toString());
        }
        if (body == null) {
            request.method(method, HttpRequest.BodyPublishers.noBody());
        } else {
            request.header("Content-Type", "application/json")
                    .method(method, HttpRequest.BodyPublishers.ofString(write(body)));
        }
        HttpResponse<String> response = sendWithRetries(request.build());
        return new Answer(
                response.statusCode(), read(response.body()), response.headers().firstValue("ETag"));
    }

    /** A token that is valid for at least half of its lifetime. */
    public String validToken() {
        if (System.nanoTime() - renewAtNanos >= 0) {
            String form = grant.entrySet().stream()
                    .map(entry -> encode(entry.getKey()) + "=" + encode(entry.getValue()))
                    .collect(Collectors.joining("&"));
            HttpResponse<String> response = login(HttpRequest.newBuilder(tokenUrl)
                    .timeout(REQUEST_TIMEOUT)
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(HttpRequest.BodyPublishers.ofString(form))
                    .build());
            JsonNode body = read(response.body());
            if (response.statusCode() != 200) {
                throw new ApiFailure("No token from " + tokenUrl + ": "
                        + body.path("error_description").asText("HTTP " + response.statusCode()));
            }
            token = body.path("access_token").asText();
            long lifetimeNanos =
                    Duration.ofSeconds(body.path("expires_in").asLong()).toNanos();
            renewAtNanos = System.nanoTime() + Math.max(lifetimeNanos / 2, lifetimeNanos - TOKEN_RENEWAL_MARGIN_NANOS);
        }
        return token;
    }

    private HttpResponse<String> login(HttpRequest request) {
        HttpResponse<String> response = sendWithRetries(request);
        for (int attempt = 1; attempt < MAX_LOGIN_ATTEMPTS && isRefusedLogin(response); attempt++) {
            pause(LOGIN_RETRY_DELAY);
            response = sendWithRetries(request);
        }
        return response;
    }

    /** Whether Keycloak refused a user's login. The login of a service account has no such temporary refusal. */
    private boolean isRefusedLogin(HttpResponse<String> response) {
        return grant.containsKey("password")
                && response.statusCode() != 200
                && read(response.body()).path("error").asText().equals("invalid_grant");
    }

    /**
     * Sends the request, and repeats it if the service, or a server that it needs, was unavailable; a refusal is final.
     */
    private HttpResponse<String> sendWithRetries(HttpRequest request) {
        long until = System.nanoTime() + UNAVAILABLE_TIMEOUT.toNanos();
        while (true) {
            try {
                HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
                if (!isUnavailable(request, response) || System.nanoTime() > until) {
                    return response;
                }
            } catch (IOException e) {
                if (System.nanoTime() > until) {
                    throw new ApiFailure("Cannot reach " + request.uri() + ": "
                            + Optional.ofNullable(e.getMessage())
                                    .orElse(e.getClass().getSimpleName()));
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new ApiFailure("Interrupted");
            }
            pause();
        }
    }

    /** Keycloak answers 500 while its database is unavailable. */
    private boolean isUnavailable(HttpRequest request, HttpResponse<String> response) {
        return UNAVAILABLE_STATUSES.contains(response.statusCode())
                || response.statusCode() == 500 && request.uri().equals(tokenUrl);
    }

    private static void pause() {
        pause(RETRY_INTERVAL);
    }

    private static void pause(Duration length) {
        try {
            Thread.sleep(length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private static String write(Object body) {
        try {
            return JSON.writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("cannot write the body as JSON", e);
        }
    }

    private static JsonNode read(String text) {
        try {
            return text.isEmpty() ? MissingNode.getInstance() : JSON.readTree(text);
        } catch (JsonProcessingException e) {
            return JSON.getNodeFactory().textNode(text);
        }
    }

    /** A command cannot continue; the message is for users. */
    public static final class ApiFailure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final boolean badInput;

        public ApiFailure(String message) {
            this(message, false);
        }

        ApiFailure(String message, boolean badInput) {
            super(message);
            this.badInput = badInput;
        }

        /** Whether the service refused the caller's input. */
        public boolean isBadInput() {
            return badInput;
        }
    }
}
