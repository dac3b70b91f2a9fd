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
    private static final String IDENTITY = "identity";

    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final ObjectMapper json = new ObjectMapper();

    /**
     * The health of the service.
     *
     * @param up ready in every respect
     * @param serves ready except for Keycloak, which takes longer to start and has a check of its own
     * @param checks the name and the result of each check, in the service's order
     */
    record Health(boolean up, boolean serves, Map<String, String> checks) {}

    /** Empty when the service does not answer. */
    Optional<Health> ready(String url) throws InterruptedException {
        try {
            HttpResponse<String> answer = client.send(
                    HttpRequest.newBuilder(URI.create(url + "/health/ready"))
                            .timeout(PATIENCE)
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            JsonNode body = json.readTree(answer.body());
            Map<String, String> checks = new LinkedHashMap<>();
            boolean serves = true;
            for (JsonNode check : body.path("checks")) {
                serves &= check.path("name").asText().equals(IDENTITY)
                        || check.path("status").asText().equals("UP");
                String said = check.path("data")
                        .path("state")
                        .asText(check.path("status").asText());
                checks.put(check.path("name").asText(), said);
            }
            return Optional.of(
                    new Health(body.path("status").asText().equals("UP"), serves && !checks.isEmpty(), checks));
        } catch (IOException notThere) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        client.close();
    }
}
