package io.quartermaster.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Queries the health of a running service. */
final class HealthProbe implements AutoCloseable {

    /** The health check that fails while users cannot sign in. */
    private static final String IDENTITY_CHECK = "identity";

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(3);

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(REQUEST_TIMEOUT).build();
    private final ObjectMapper json = new ObjectMapper();

    /**
     * The health of the service.
     *
     * @param up ready in every respect
     * @param canServe ready except for Keycloak, which takes longer to start and has a check of its own
     * @param checks the name and the result of each check, in the service's order
     */
    record Health(boolean up, boolean canServe, Map<String, String> checks) {

        /** Whether the service has confirmed the operator's realm; until then it refuses the operator's tokens. */
        boolean operatorsCanSignIn() {
            return "made".equals(checks.get("operator-realm"));
        }
    }

    /** Empty when the service does not answer. */
    Optional<Health> readiness(String url) throws InterruptedException {
        try {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(url + "/health/ready"))
                            .timeout(REQUEST_TIMEOUT)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            JsonNode body = json.readTree(answer.body());
            Map<String, String> checks = new LinkedHashMap<>();
            boolean canServe = true;
            for (JsonNode check : body.path("checks")) {
                canServe &= check.path("name").asText().equals(IDENTITY_CHECK)
                        || check.path("status").asText().equals("UP");
                String state = check.path("data")
                        .path("state")
                        .asText(check.path("status").asText());
                checks.put(check.path("name").asText(), state);
            }
            return Optional.of(
                    new Health(body.path("status").asText().equals("UP"), canServe && !checks.isEmpty(), checks));
        } catch (IOException unreachable) {
            return Optional.empty();
        }
    }

    /** The metrics of the service as text; empty when it does not answer. */
    Optional<String> metrics(String url) throws InterruptedException {
        try {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(url + "/metrics"))
                            .timeout(REQUEST_TIMEOUT)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            return Optional.of(answer.body()).filter(text -> answer.statusCode() == 200);
        } catch (IOException unreachable) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
