package io.quartermaster.agent;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** The service's side of the protocol, with a token endpoint, in memory; it stores everything that it receives. */
final class FakeService implements AutoCloseable {
    static final String DIGEST = "digest-of-n1";
    static final String SECRET = "s3cret & more";

    private final JsonMapper json = JsonMapper.builder().build();
    private final HttpServer server;
    private final Map<UUID, AttemptOrder> orders = new LinkedHashMap<>();
    private final Set<UUID> paused = new TreeSet<>();
    private final Set<UUID> forget = new TreeSet<>();
    private final List<SyncRequest> requests = new ArrayList<>();
    private @Nullable SyncRequest latest;
    private final Map<UUID, AttemptReport> reports = new LinkedHashMap<>();
    private final Map<UUID, String> logs = new LinkedHashMap<>();
    private final long leaseMillis;
    private long revision = 1;
    private boolean away;
    private int tokensGiven;
    private int tokensRefused;
    private @Nullable String validToken;
    private @Nullable String validSession;
    private int sessionsGiven;
    private boolean givesSessions = true;
    private boolean identityAway;
    private String problem = "";
    private int problemsLeft;
    private boolean knowsDigests = true;
    private boolean knowsInventory;
    private int digestsRefused;

    FakeService(long leaseMillis) throws IOException {
        this.leaseMillis = leaseMillis;
        this.server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/token", this::token);
        server.createContext("/v1/nodes/n1/sync", this::sync);
        server.createContext("/v1/nodes/n1/sessions", this::session);
        server.start();
    }

    URI address() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    URI tokenEndpoint() {
        return address().resolve("/token");
    }

    private void token(HttpExchange exchange) throws IOException {
        String form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        boolean right = form.contains("grant_type=client_credentials") && form.contains("s3cret+%26+more");
        byte[] answer;
        synchronized (this) {
            if (identityAway) {
                respond(exchange, 503, new byte[0]);
                return;
            }
            validToken = "token-" + ++tokensGiven;
            answer = "{\"access_token\":\"%s\",\"expires_in\":300}"
                    .formatted(validToken)
                    .getBytes(StandardCharsets.UTF_8);
        }
        respond(exchange, right ? 200 : 401, answer);
    }

    private void session(HttpExchange exchange) throws IOException {
        byte[] answer;
        synchronized (this) {
            if (!givesSessions || !isValid(exchange)) {
                respond(exchange, givesSessions ? 401 : 404, new byte[0]);
                return;
            }
            validSession = "session-" + ++sessionsGiven;
            answer = "{\"token\":\"%s\",\"lifeMillis\":86400000}"
                    .formatted(validSession)
                    .getBytes(StandardCharsets.UTF_8);
        }
        respond(exchange, 201, answer);
    }

    private boolean isValid(HttpExchange exchange) {
        String shown = exchange.getRequestHeaders().getFirst("Authorization");
        return ("Bearer " + validToken).equals(shown) || ("Bearer " + validSession).equals(shown);
    }

    private void sync(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        byte[] reply;
        synchronized (this) {
            if (away) {
                respond(exchange, 503, new byte[0]);
                return;
            }
            if (problemsLeft > 0) {
                problemsLeft--;
                respond(
                        exchange,
                        503,
                        "{\"code\":\"%s\",\"detail\":\"as told\"}"
                                .formatted(problem)
                                .getBytes(StandardCharsets.UTF_8));
                return;
            }
            if (!isValid(exchange)) {
                tokensRefused++;
                respond(exchange, 401, new byte[0]);
                return;
            }
            SyncRequest request = json.readValue(body, SyncRequest.class);
            if (request.inventory() == null && !(knowsDigests && knowsInventory)) {
                digestsRefused++;
                respond(
                        exchange,
                        knowsDigests ? 409 : 400,
                        "{\"code\":\"%s\",\"detail\":\"as told\"}"
                                .formatted(knowsDigests ? Protocol.INVENTORY_UNKNOWN : "invalid-request")
                                .getBytes(StandardCharsets.UTF_8));
                return;
            }
            knowsInventory = true;
            // As when another replica, of another version, answers the next call.
            @Nullable String digest = knowsDigests ? DIGEST : null;
            take(request);
            awaitNews(request);
            reply = json.writeValueAsBytes(new SyncReply(
                    Protocol.FORMAT_VERSION,
                    revision,
                    leaseMillis,
                    List.copyOf(orders.values()),
                    List.copyOf(paused),
                    List.copyOf(forget),
                    digest));
        }
        respond(exchange, 200, reply);
    }

    /** Like the service, ignores the reports of a request that arrives after a later one of the same agent. */
    private void take(SyncRequest request) {
        boolean outdated = latest != null
                && latest.instanceId().equals(request.instanceId())
                && latest.sequence() > request.sequence();
        requests.add(request);
        if (outdated) {
            return;
        }
        latest = request;
        request.attempts().forEach(report -> {
            reports.put(report.attemptId(), report);
            if (report.log() != null) {
                logs.put(report.attemptId(), report.log().text());
            }
        });
        notifyAll();
    }

    private void awaitNews(SyncRequest request) {
        long deadline = System.nanoTime() + request.waitMillis() * 1_000_000;
        try {
            while (request.appliedRevision() == revision && System.nanoTime() < deadline && !away) {
                wait(5);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void respond(HttpExchange exchange, int status, byte[] body) throws IOException {
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    synchronized void order(AttemptOrder order) {
        orders.put(order.attemptId(), order);
        changed();
    }

    /** Has processed the attempt's end: it no longer lists the attempt, and lets the agent forget it. */
    synchronized void takenIn(UUID attemptId) {
        orders.remove(attemptId);
        forget.add(attemptId);
        changed();
    }

    /** No longer orders the attempt, which stays paused. */
    synchronized void keepPaused(UUID attemptId) {
        orders.remove(attemptId);
        paused.add(attemptId);
        changed();
    }

    /** Orders the attempt, which takes over the paused one. */
    synchronized void resume(AttemptOrder order) {
        paused.remove(order.resumes());
        order(order);
    }

    synchronized void letGo(UUID pausedAttempt) {
        paused.remove(pausedAttempt);
        changed();
    }

    synchronized void unlist(UUID attemptId) {
        orders.remove(attemptId);
        changed();
    }

    /** Answers as a replica that has received no request yet. */
    synchronized void fallBack() {
        revision = 0;
        orders.clear();
        notifyAll();
    }

    synchronized void away(boolean isAway) {
        away = isAway;
        changed();
    }

    synchronized void expireTokens() {
        validToken = "none of those given";
        validSession = "none of those given";
        changed();
    }

    /** Lets Keycloak refuse new tokens, and its earlier tokens expire. */
    synchronized void endIdentity() {
        identityAway = true;
        validToken = "none of those given";
        changed();
    }

    /** Behaves from now on as a service that is older than the digests of inventories. */
    synchronized void knowNoDigests() {
        knowsDigests = false;
        changed();
    }

    /** Behaves as after the loss of the stored inventory. */
    synchronized void loseInventory() {
        knowsInventory = false;
        changed();
    }

    synchronized int digestsRefused() {
        return digestsRefused;
    }

    /** Behaves as a service that is older than sessions. */
    synchronized void giveNoSessions() {
        givesSessions = false;
    }

    /** Answers the next calls 503 with this code. */
    synchronized void refuse(int calls, String code) {
        problemsLeft = calls;
        problem = code;
        changed();
    }

    synchronized int problemsLeft() {
        return problemsLeft;
    }

    synchronized int tokensGiven() {
        return tokensGiven;
    }

    synchronized void changed() {
        revision++;
        notifyAll();
    }

    synchronized int tokensRefused() {
        return tokensRefused;
    }

    synchronized List<SyncRequest> requests() {
        return List.copyOf(requests);
    }

    synchronized Optional<AttemptState> state(UUID attemptId) {
        return Optional.ofNullable(reports.get(attemptId)).map(AttemptReport::state);
    }

    synchronized Optional<AttemptReport> report(UUID attemptId) {
        return Optional.ofNullable(reports.get(attemptId));
    }

    synchronized String log(UUID attemptId) {
        return logs.getOrDefault(attemptId, "");
    }

    Optional<Ended> end(UUID attemptId) {
        return state(attemptId).filter(Ended.class::isInstance).map(Ended.class::cast);
    }

    @Override
    public void close() {
        away(true);
        server.stop(0);
    }
}
