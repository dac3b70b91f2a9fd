package io.quartermaster.cli.load;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.agent.protocol.Protocol;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * An imitation of one node's agent, without work and devices. It calls as the real agent does: one call at a time, held
 * while it has no news; a call that is held when news comes is abandoned for one that is answered immediately. It
 * writes the JSON itself, so that it can also call a service of an earlier version.
 */
final class LightAgent {

    /** The part of the lease for which the real agent lets the service hold a call, and its limit. */
    private static final int HOLD_LEASE_DIVISOR = 6;

    private static final long MAX_HOLD_MILLIS = 20_000;
    private static final long ANSWER_TIMEOUT_MILLIS = 15_000;
    private static final long MIN_RETRY_MILLIS = 200;
    private static final int DEVICE_MIB = 143_771;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpClient http;
    private final ScheduledExecutorService timer;
    private final AgentCalls calls;
    private final URI address;
    private final String token;
    private final ObjectNode inventory;
    private final Duration work;
    private final String instance = UUID.randomUUID().toString();
    private final String stateFolder = UUID.randomUUID().toString();
    /** When the work of each attempt began, and whether it has ended. */
    private final Map<String, Run> runs = new TreeMap<>();

    private long sequence;
    private long appliedRevision;
    private long leaseMillis;
    private String inventoryDigest = "";
    private boolean hasChanges = true;
    private boolean closed;
    private @Nullable CompletableFuture<?> heldCall;

    private record Run(long startedMillis, long endedMillis) {

        boolean hasEnded() {
            return endedMillis > 0;
        }
    }

    LightAgent(
            HttpClient http,
            ScheduledExecutorService timer,
            AgentCalls calls,
            String url,
            String node,
            String token,
            int gpus,
            Duration work) {
        this.http = http;
        this.timer = timer;
        this.calls = calls;
        this.address = URI.create(url + Protocol.syncPath(node));
        this.token = token;
        this.work = work;
        this.inventory = newInventory(node, gpus);
    }

    private static ObjectNode newInventory(String node, int gpus) {
        ObjectNode inventory = JSON.createObjectNode();
        ArrayNode devices = inventory.putArray("devices");
        for (int i = 0; i < gpus; i++) {
            devices.addObject()
                    .put("index", i)
                    .put("uuid", "GPU-" + node + "-" + i)
                    .put("model", "NVIDIA H200")
                    .put("memoryMiB", DEVICE_MIB)
                    .put("healthy", true)
                    .put("migEnabled", false);
        }
        return inventory
                .put("cpuMilli", 192_000)
                .put("memoryMiB", 2_000_000)
                .put("isolation", "container")
                .put("trustsTenants", false)
                .put("simulated", true);
    }

    synchronized void start() {
        send();
    }

    synchronized void close() {
        closed = true;
        CompletableFuture<?> open = heldCall;
        if (open != null) {
            open.cancel(true);
        }
    }

    private void send() {
        if (closed) {
            return;
        }
        long waitMillis = hasChanges ? 0 : Math.min(MAX_HOLD_MILLIS, leaseMillis / HOLD_LEASE_DIVISOR);
        byte[] body = requestBody(waitMillis);
        hasChanges = false;
        calls.recordSent(body.length);
        CompletableFuture<HttpResponse<byte[]>> answer = http.sendAsync(
                HttpRequest.newBuilder(address)
                        .timeout(Duration.ofMillis(waitMillis + ANSWER_TIMEOUT_MILLIS))
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .header("Accept", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
        heldCall = waitMillis > 0 ? answer : null;
        long sentSequence = sequence;
        answer.whenComplete((response, failure) -> handleResponse(sentSequence, response, failure));
    }

    private byte[] requestBody(long waitMillis) {
        ObjectNode request = JSON.createObjectNode()
                .put("formatVersion", Protocol.FORMAT_VERSION)
                .put("agentVersion", "load")
                .put("bootId", "load")
                .put("instanceId", instance)
                .put("stateId", stateFolder)
                .put("sequence", ++sequence)
                .put("appliedRevision", appliedRevision)
                .put("waitMillis", waitMillis);
        if (inventoryDigest.isEmpty()) {
            request.set("inventory", inventory);
        } else {
            request.put("inventoryDigest", inventoryDigest);
        }
        ArrayNode attempts = request.putArray("attempts");
        runs.forEach((attempt, run) -> {
            ObjectNode state = attempts.addObject().put("attemptId", attempt).putObject("state");
            state.put("state", run.hasEnded() ? "ended" : "running").put("startedAtEpochMillis", run.startedMillis());
            if (run.hasEnded()) {
                state.put("outcome", "succeeded")
                        .put("exitCode", 0)
                        .put("endedAtEpochMillis", run.endedMillis())
                        .put("detail", "");
            }
        });
        try {
            return JSON.writeValueAsBytes(request);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private synchronized void handleResponse(
            long sentSequence, @Nullable HttpResponse<byte[]> response, @Nullable Throwable failure) {
        if (closed || sentSequence != sequence) {
            return; // The call was abandoned for a newer one.
        }
        heldCall = null;
        if (response == null || response.statusCode() != 200) {
            calls.recordFailed(
                    response == null
                            ? String.valueOf(failure)
                            : response.statusCode() + " " + new String(response.body()));
            if (response != null) {
                inventoryDigest = "";
            }
            hasChanges = true;
            timer.schedule(
                    this::retry,
                    MIN_RETRY_MILLIS + RandomGenerator.getDefault().nextLong(MIN_RETRY_MILLIS),
                    TimeUnit.MILLISECONDS);
            return;
        }
        calls.recordAnswered(response.body().length);
        try {
            applyReply(JSON.readTree(response.body()));
        } catch (java.io.IOException e) {
            calls.recordFailed(e.toString());
        }
        send();
    }

    private synchronized void retry() {
        send();
    }

    private void applyReply(JsonNode reply) {
        leaseMillis = reply.path("leaseMillis").asLong();
        appliedRevision = reply.path("revision").asLong();
        inventoryDigest = reply.path("inventoryDigest").asText("");
        reply.path("forget").forEach(attempt -> runs.remove(attempt.asText()));
        for (JsonNode order : reply.path("attempts")) {
            String attempt = order.path("attemptId").asText();
            Run run = runs.get(attempt);
            if (order.path("desired").path("kind").asText().equals("run")) {
                if (run == null) {
                    calls.recordOrder(attempt);
                    runs.put(attempt, new Run(System.currentTimeMillis(), 0));
                    hasChanges = true;
                    timer.schedule(() -> endRun(attempt), work.toMillis(), TimeUnit.MILLISECONDS);
                }
            } else if (run == null || !run.hasEnded()) {
                long now = System.currentTimeMillis();
                runs.put(attempt, new Run(run == null ? now : run.startedMillis(), now));
                hasChanges = true;
            }
        }
    }

    private synchronized void endRun(String attempt) {
        Run run = runs.get(attempt);
        if (run == null || run.hasEnded() || closed) {
            return;
        }
        runs.put(attempt, new Run(run.startedMillis(), System.currentTimeMillis()));
        hasChanges = true;
        CompletableFuture<?> open = heldCall;
        if (open != null) {
            calls.recordAbandoned();
            send();
            open.cancel(true);
        }
    }
}
