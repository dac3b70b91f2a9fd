package io.quartermaster.client;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A service and a realm that give prepared answers, for failures that real ones do not show on demand. */
final class FakeApi implements AutoCloseable {

    /** A request as it arrived; the query stays encoded. */
    record Request(
            String method,
            String path,
            String authorization,
            String idempotencyKey,
            String ifMatch,
            String lastEventId,
            String body) {}

    private record Answer(int status, String type, String body, Map<String, String> headers) {}

    private final HttpServer server;
    private final Map<String, Deque<Answer>> answers = new HashMap<>();
    private final List<Request> requests = new ArrayList<>();

    FakeApi() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Prepares the next answer to a request such as {@code GET /v1/x?a=b}; the last one is repeated. */
    FakeApi given(String request, int status, String body, Map<String, String> headers) {
        String type = status >= 400 ? "application/problem+json" : "application/json";
        synchronized (requests) {
            answers.computeIfAbsent(request, any -> new ArrayDeque<>()).add(new Answer(status, type, body, headers));
        }
        return this;
    }

    FakeApi given(String request, int status, String body) {
        return given(request, status, body, Map.of());
    }

    FakeApi givenText(String request, String text) {
        synchronized (requests) {
            answers.computeIfAbsent(request, any -> new ArrayDeque<>())
                    .add(new Answer(200, "text/plain;charset=UTF-8", text, Map.of()));
        }
        return this;
    }

    /** Prepares server-sent events, after which the connection ends. */
    FakeApi givenEvents(String request, String events) {
        synchronized (requests) {
            answers.computeIfAbsent(request, any -> new ArrayDeque<>())
                    .add(new Answer(200, "text/event-stream", events, Map.of()));
        }
        return this;
    }

    List<Request> requests() {
        synchronized (requests) {
            return List.copyOf(requests);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String request = exchange.getRequestMethod() + " " + exchange.getRequestURI();
        Answer answer;
        synchronized (requests) {
            requests.add(new Request(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().toString(),
                    Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Authorization"), ""),
                    Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Idempotency-Key"), ""),
                    Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("If-Match"), ""),
                    Objects.requireNonNullElse(exchange.getRequestHeaders().getFirst("Last-Event-ID"), ""),
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
            Deque<Answer> prepared = answers.getOrDefault(request, new ArrayDeque<>());
            answer = prepared.size() > 1
                    ? prepared.remove()
                    : Objects.requireNonNullElse(
                            prepared.peek(), new Answer(404, "text/plain", "no answer for " + request, Map.of()));
        }
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", answer.type());
        exchange.getResponseHeaders()
                .set("X-Request-Id", "request-" + requests().size());
        answer.headers().forEach(exchange.getResponseHeaders()::set);
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
