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

/** Asks a running service how it is. */
final class HealthProbe implements AutoCloseable {

    /** The check that says whether people can sign in. */
    private static final String IDENTITY = "identity";

    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final ObjectMapper json = new ObjectMapper();

    /**
     * What the service says.
     *
     * @param up ready in every respect
     * @param serves ready but for Keycloak, which takes longer to start and has an entry of its own
     * @param checks each check's name and what it says, in the service's order
     */
    record Health(boolean up, boolean serves, Map<String, String> checks) {}

    /** Empty when it does not answer. */
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
