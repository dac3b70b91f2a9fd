package io.quartermaster.client.connection;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Sends single requests, shows that it waits, and turns a lost connection into a failure with a message. */
public final class WebClient {

    static final ObjectMapper JSON = new ObjectMapper();

    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(10);
    private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);

    private final WaitIndicator waiting;
    private final PrintWriter err;
    private final boolean debug;
    private final HttpClient http;

    /** @param debug whether to print each request with its status, its duration and its id */
    public WebClient(WaitIndicator waiting, PrintWriter err, boolean debug) {
        this.waiting = waiting;
        this.err = err;
        this.debug = debug;
        // Redirects are not followed: they would carry tokens to other addresses.
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(CONNECT_LIMIT)
                .build();
    }

    /** Fails with {@link ExitStatus#UNAVAILABLE} if no answer comes. */
    HttpResponse<String> send(HttpRequest.Builder builder) {
        HttpRequest request = builder.timeout(ANSWER_LIMIT).build();
        long begun = System.nanoTime();
        String origin = origin(request);
        try (WaitIndicator.Step step = waiting.begin("Waiting for " + origin)) {
            HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
            log(request, Integer.toString(response.statusCode()), begun, requestId(response));
            return response;
        } catch (IOException e) {
            log(request, e.toString(), begun, "");
            throw new CommandFailure(ExitStatus.UNAVAILABLE, origin + " does not answer" + reason(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
    }

    /** Sends a request whose answer is read while it arrives. The caller closes its body. */
    HttpResponse<InputStream> open(HttpRequest.Builder builder) throws IOException, InterruptedException {
        // The limit ends with the headers of the answer.
        HttpRequest request = builder.timeout(ANSWER_LIMIT).build();
        long begun = System.nanoTime();
        try {
            HttpResponse<InputStream> response = http.send(request, HttpResponse.BodyHandlers.ofInputStream());
            log(request, Integer.toString(response.statusCode()), begun, requestId(response));
            return response;
        } catch (IOException e) {
            log(request, e.toString(), begun, "");
            throw new IOException(origin(request) + " does not answer" + reason(e), e);
        }
    }

    private static String origin(HttpRequest request) {
        return request.uri().getScheme() + "://" + request.uri().getAuthority();
    }

    private static String reason(IOException e) {
        String message = e.getMessage();
        return message == null || message.isBlank() ? "" : ": " + message;
    }

    static String requestId(HttpResponse<?> response) {
        return response.headers().firstValue("X-Request-Id").orElse("");
    }

    private void log(HttpRequest request, String result, long begun, String requestId) {
        if (debug) {
            err.println("qm: " + request.method() + " " + request.uri() + ": " + result + " after "
                    + (System.nanoTime() - begun) / 1_000_000L + " ms"
                    + (requestId.isEmpty() ? "" : ", request id " + requestId));
            err.flush();
        }
    }

    /** The JSON in a text; a text node if it is none, a missing node if it is empty. */
    static JsonNode read(String text) {
        try {
            return text.isEmpty() ? MissingNode.getInstance() : JSON.readTree(text);
        } catch (JsonProcessingException e) {
            return JSON.getNodeFactory().textNode(text);
        }
    }

    static String form(Map<String, String> fields) {
        return new TreeMap<>(fields)
                .entrySet().stream()
                        .map(field -> encode(field.getKey()) + "=" + encode(field.getValue()))
                        .collect(Collectors.joining("&"));
    }

    /** Encodes a step of a path or a value of a query. */
    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    static HttpRequest.Builder request(String uri) {
        return HttpRequest.newBuilder(URI.create(uri)).header("User-Agent", "qm");
    }
}
