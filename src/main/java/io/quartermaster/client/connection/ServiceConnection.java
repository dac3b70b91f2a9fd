package io.quartermaster.client.connection;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The API of one server, with a token of one tenant. A request that could not be answered is repeated for some seconds.
 * A {@code POST} carries an {@code Idempotency-Key}, so that its repetition has no further effect.
 */
public final class ServiceConnection {

    private static final Set<Integer> AWAY = Set.of(502, 503, 504);
    private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    private static final int MOST_ATTEMPTS = 4;
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final int PAGE = 500;

    private final WebClient web;
    private final URI server;
    private final String tenant;
    private final BearerToken token;

    public ServiceConnection(WebClient web, URI server, String tenant, BearerToken token) {
        this.web = web;
        this.server = server;
        this.tenant = tenant;
        this.token = token;
    }

    public URI server() {
        return server;
    }

    public String tenant() {
        return tenant;
    }

    public BearerToken token() {
        return token;
    }

    WebClient web() {
        return web;
    }

    /** A path below the tenant's own, such as {@code /v1/tenants/acme/workloads}; each step is encoded. */
    public String path(String... steps) {
        return below("/v1/tenants/" + WebClient.encode(tenant), steps);
    }

    /** A path of the operator, such as {@code /v1/operator/nodes}; each step is encoded. */
    public static String operatorPath(String... steps) {
        return below("/v1/operator", steps);
    }

    private static String below(String root, String... steps) {
        StringBuilder path = new StringBuilder(root);
        for (String step : steps) {
            path.append('/').append(WebClient.encode(step));
        }
        return path.toString();
    }

    /** The body of a successful answer; any other answer ends the command with the text of its problem. */
    public JsonNode get(String path, Map<String, String> query) {
        return require(send("GET", path, query, null, Map.of())).body();
    }

    public JsonNode get(String path) {
        return get(path, Map.of());
    }

    /** As {@link #get(String, Map)}, but waits for a service that is away. For commands that watch. */
    public JsonNode getPatiently(String path, Map<String, String> query, OutagePatience patience) {
        return patience.get(() -> get(path, query));
    }

    /** The body of a successful answer, as {@link #get(String, Map)}. */
    public JsonNode post(String path, Map<String, String> query, @Nullable JsonNode body) {
        return require(send("POST", path, query, body, Map.of())).body();
    }

    /**
     * As {@link #post(String, Map, JsonNode)}.
     *
     * @param key the key under which the service knows a repetition of the request, also by a later command
     */
    public JsonNode post(String path, Map<String, String> query, @Nullable JsonNode body, String key) {
        return require(send("POST", path, query, body, Map.of(IDEMPOTENCY_KEY, key)))
                .body();
    }

    /**
     * The items of a list, page by page.
     *
     * @param most the most items to read
     */
    public List<JsonNode> items(String path, Map<String, String> query, int most) {
        return items(path, query, most, any -> true);
    }

    /** The items of the complete list that fit a condition, page by page. */
    public List<JsonNode> matching(String path, Map<String, String> query, Predicate<JsonNode> condition) {
        return items(path, query, Integer.MAX_VALUE, condition);
    }

    private List<JsonNode> items(String path, Map<String, String> query, int most, Predicate<JsonNode> condition) {
        List<JsonNode> items = new ArrayList<>();
        Map<String, String> page = new LinkedHashMap<>(query);
        page.put("pageSize", Integer.toString(Math.min(PAGE, most)));
        while (true) {
            JsonNode answer = get(path, page);
            for (JsonNode item : answer.path("items")) {
                if (condition.test(item)) {
                    items.add(item);
                }
            }
            String next = answer.path("nextPageToken").asText("");
            if (next.isEmpty() || items.size() >= most) {
                return items.size() > most ? List.copyOf(items.subList(0, most)) : items;
            }
            page.put("pageToken", next);
        }
    }

    /** Sends a request and returns its answer, whatever its status. */
    public ServiceReply send(
            String method,
            String path,
            Map<String, String> query,
            @Nullable JsonNode body,
            Map<String, String> headers) {
        Map<String, String> all = new LinkedHashMap<>(headers);
        if (method.equals("POST")) {
            all.putIfAbsent(IDEMPOTENCY_KEY, UUID.randomUUID().toString());
        }
        boolean repeatable = method.equals("GET") || all.containsKey(IDEMPOTENCY_KEY);
        for (int attempt = 1; ; attempt++) {
            boolean last = !repeatable || attempt == MOST_ATTEMPTS;
            try {
                HttpResponse<String> response = authorized(method, path, query, body, all);
                Optional<Duration> pause = last ? Optional.empty() : pauseBeforeRepetition(response, attempt);
                if (pause.isEmpty()) {
                    return reply(response);
                }
                sleep(pause.get());
            } catch (CommandFailure e) {
                if (last || e.status() != ExitStatus.UNAVAILABLE) {
                    throw e;
                }
                sleep(pause(attempt));
            }
        }
    }

    /** Repeats the request once with another token if the service refuses the first. */
    private HttpResponse<String> authorized(
            String method,
            String path,
            Map<String, String> query,
            @Nullable JsonNode body,
            Map<String, String> headers) {
        String first = token.current();
        HttpResponse<String> response = web.send(request(method, path, query, body, headers, first));
        return response.statusCode() == 401
                ? web.send(request(method, path, query, body, headers, token.afterRefusal(first)))
                : response;
    }

    private HttpRequest.Builder request(
            String method,
            String path,
            Map<String, String> query,
            @Nullable JsonNode body,
            Map<String, String> headers,
            String bearer) {
        String uri = server + path + (query.isEmpty() ? "" : "?" + WebClient.form(query));
        HttpRequest.Builder request = WebClient.request(uri)
                .header("Authorization", "Bearer " + bearer)
                .header("Accept", "application/json, text/plain;q=0.9");
        headers.forEach(request::setHeader);
        if (body == null) {
            return request.method(method, HttpRequest.BodyPublishers.noBody());
        }
        request.setHeader("Content-Type", headers.getOrDefault("Content-Type", "application/json"));
        return request.method(method, HttpRequest.BodyPublishers.ofString(text(body)));
    }

    private static String text(JsonNode body) {
        try {
            return WebClient.JSON.writeValueAsString(body);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write a body as JSON", e);
        }
    }

    /** Nothing for an answer that is final. Full queues stay full for longer than a person waits. */
    private static Optional<Duration> pauseBeforeRepetition(HttpResponse<String> response, int attempt) {
        int status = response.statusCode();
        boolean tooMany = status == 429
                && WebClient.read(response.body()).path("code").asText().equals("too-many-requests");
        if (!AWAY.contains(status) && !tooMany) {
            return Optional.empty();
        }
        Duration asked = response.headers()
                .firstValue("Retry-After")
                .filter(value -> value.matches("[0-9]{1,9}"))
                .map(value -> Duration.ofSeconds(Long.parseLong(value)))
                .orElse(pause(attempt));
        return asked.compareTo(LONGEST_PAUSE) > 0 ? Optional.empty() : Optional.of(asked);
    }

    private static Duration pause(int attempt) {
        return Duration.ofMillis(250L << attempt);
    }

    private static ServiceReply reply(HttpResponse<String> response) {
        String id = WebClient.requestId(response);
        return new ServiceReply(
                response.statusCode(), body(response), response.headers().firstValue("ETag"), id.isEmpty() ? null : id);
    }

    /** Plain text stays as it is, also where it looks like JSON. */
    private static JsonNode body(HttpResponse<String> response) {
        boolean plain = response.headers()
                .firstValue("Content-Type")
                .filter(type -> type.startsWith("text/plain"))
                .isPresent();
        return plain ? WebClient.JSON.getNodeFactory().textNode(response.body()) : WebClient.read(response.body());
    }

    /** The answer if it is successful; otherwise the command ends with the text of its problem. */
    public static ServiceReply require(ServiceReply reply) {
        if (reply.isOk()) {
            return reply;
        }
        throw failure(reply);
    }

    /** The failure that an answer stands for, with the problem's own words and each field that was refused. */
    public static CommandFailure failure(ServiceReply reply) {
        JsonNode body = reply.body();
        String detail = body.path("detail").asText("");
        String message = detail.isEmpty() ? "the service answered HTTP " + reply.status() : FieldText.ofJobs(detail);
        List<String> details = new ArrayList<>();
        for (JsonNode error : body.path("errors")) {
            FieldText.line(error, message).ifPresent(details::add);
        }
        return new CommandFailure(status(reply.status()), message, details, reply.requestId());
    }

    private static ExitStatus status(int http) {
        return switch (http) {
            case 401 -> ExitStatus.NOT_SIGNED_IN;
            case 404 -> ExitStatus.NOT_FOUND;
            case 400, 403, 405, 409, 412, 413, 415, 422, 428, 429 -> ExitStatus.REFUSED;
            default -> http >= 500 ? ExitStatus.UNAVAILABLE : ExitStatus.FAILED;
        };
    }

    private static void sleep(Duration length) {
        try {
            Thread.sleep(length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
    }
}
