package io.quartermaster.cli;

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
import java.util.Map;
import java.util.stream.Collectors;

/** The service's public API as a command uses it: JSON there and back, with a bearer token. */
final class Api implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    private final String base;

    Api(String base) {
        this.base = base;
    }

    /** What came back; the body is a missing node when there was none. */
    record Answer(int status, JsonNode body) {

        boolean isGood() {
            return status / 100 == 2;
        }
    }

    /** The service refused; the message is its own. */
    static final class Refused extends IOException {
        private static final long serialVersionUID = 1L;

        Refused(String what, Answer answer) {
            super(what + ": " + answer.status() + " "
                    + answer.body()
                            .path("detail")
                            .asText(answer.body().path("title").asText()));
        }
    }

    /** A token by OAuth's form, from a realm's address. */
    String token(String issuer, Map<String, String> form) throws IOException, InterruptedException {
        String body = form.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + URLEncoder.encode(entry.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
        HttpRequest request = HttpRequest.newBuilder(URI.create(issuer + "/protocol/openid-connect/token"))
                .timeout(PATIENCE)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        Answer answer = send(request);
        if (!answer.isGood()) {
            throw new IOException("No token from " + issuer + ": " + answer.status() + " "
                    + answer.body().path("error_description").asText());
        }
        return answer.body().path("access_token").asText();
    }

    /** Any status is an answer. */
    Answer get(String token, String path) throws IOException, InterruptedException {
        return send(request(token, path).GET().build());
    }

    /** Fails unless the service agrees. */
    Answer post(String token, String path, Map<String, ?> body) throws IOException, InterruptedException {
        HttpRequest request = request(token, path)
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
                .build();
        return agreed("POST " + path, send(request));
    }

    /** Makes what is not there yet. */
    Answer putNew(String token, String path, Map<String, ?> body) throws IOException, InterruptedException {
        HttpRequest request = request(token, path)
                .header("If-None-Match", "*")
                .PUT(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(body)))
                .build();
        return agreed("PUT " + path, send(request));
    }

    @Override
    public void close() {
        client.close();
    }

    private HttpRequest.Builder request(String token, String path) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(PATIENCE)
                .header("Authorization", "Bearer " + token)
                .header("Content-Type", "application/json");
    }

    private Answer send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        return new Answer(answer.statusCode(), parsed(answer.body()));
    }

    private static JsonNode parsed(String body) {
        try {
            return body.isEmpty() ? MissingNode.getInstance() : JSON.readTree(body);
        } catch (IOException noJson) {
            return MissingNode.getInstance();
        }
    }

    private static Answer agreed(String what, Answer answer) throws Refused {
        if (!answer.isGood()) {
            throw new Refused(what, answer);
        }
        return answer;
    }
}
