package io.quartermaster.cli.load;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Sends the requests of the load run over persistent connections. It learns from the live view, as any client does,
 * when work is bound.
 */
public final class LoadClient {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(60);

    /** Statuses of an overloaded service. */
    private static final Set<Integer> OVERLOAD_STATUSES = Set.of(429, 503);

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String root;
    private final Map<String, Long> boundAtNanos = new ConcurrentHashMap<>();

    public LoadClient(String url) {
        this.root = url + "/v1/tenants/" + LoadWorld.TENANT;
    }

    /** @return the answer's body; empty when the service was overloaded (429, 503); any other failure ends the run */
    Optional<String> post(String path, String token, String body) {
        return post(path, token, body, "");
    }

    /** @param key the idempotency key; none where it is empty */
    Optional<String> post(String path, String token, String body, String key) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(root + path))
                .timeout(REQUEST_TIMEOUT)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (!key.isEmpty()) {
            request.header("Idempotency-Key", key);
        }
        try {
            HttpResponse<String> answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            if (OVERLOAD_STATUSES.contains(answer.statusCode())) {
                return Optional.empty();
            }
            if (answer.statusCode() / 100 != 2) {
                throw new ApiFailure("POST " + path + " answered " + answer.statusCode() + ": " + answer.body());
            }
            return Optional.of(answer.body());
        } catch (HttpTimeoutException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new ApiFailure("POST " + path + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
    }

    static String id(String answer) {
        return read(answer).path("id").asText();
    }

    /** The time at which the live view showed that the workload holds devices; null until then. */
    @Nullable
    Long boundAtNanos(String workload) {
        return boundAtNanos.get(workload);
    }

    /** Follows the live view from now on; returns when the view is open. */
    void watch(String token) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(root + "/workloads/watch"))
                .header("Authorization", "Bearer " + token)
                .build();
        try {
            HttpResponse<Stream<String>> answer = http.send(request, HttpResponse.BodyHandlers.ofLines());
            if (answer.statusCode() != 200) {
                throw new ApiFailure("The live view answered " + answer.statusCode());
            }
            Thread.ofPlatform().daemon().name("watch").start(() -> readEvents(answer.body()));
        } catch (IOException e) {
            throw new ApiFailure("The live view: " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
    }

    /**
     * Reads until the service ends the view at the end of the run. A workload that the view has not shown by then
     * counts as unseen.
     */
    private void readEvents(Stream<String> lines) {
        try {
            lines.forEach(this::readLine);
        } catch (UncheckedIOException ended) {
            // The run counts every loss that this causes.
        }
    }

    private void readLine(String line) {
        if (line.startsWith("data:")) {
            JsonNode event = read(line.substring("data:".length()));
            if (event.path("state").asText().equals("starting")) {
                boundAtNanos.putIfAbsent(event.path("workload").asText(), System.nanoTime());
            }
        }
    }

    private static JsonNode read(String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new ApiFailure("not JSON: " + text);
        }
    }
}
