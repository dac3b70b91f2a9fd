package io.quartermaster.agent;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.agent.supervisor.BootClock;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;

/** The client for calls to the service. A call blocks its thread; an interrupt of the thread aborts the call. */
final class ServiceClient implements AutoCloseable {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(5);
    private static final long MAX_REPLY_BYTES = 32L << 20;

    private final HttpClient http;
    private final ObjectMapper json;
    private final TokenSource tokenSource;
    private final URI sync;

    /**
     * @param session see {@link TokenSource}
     */
    ServiceClient(AgentConfig config, Path session) throws IOException {
        this.http = HttpClient.newBuilder()
                .connectTimeout(CONNECT_TIMEOUT)
                .version(HttpClient.Version.HTTP_1_1)
                .build();
        this.json = JsonMapper.builder()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        String base = config.server().toString().replaceAll("/+$", "");
        this.sync = URI.create(base + Protocol.syncPath(config.node()));
        URI sessions = URI.create(base + Protocol.sessionsPath(config.node()));
        this.tokenSource = new TokenSource(http, json, config.credentials(), sessions, session, config.log());
    }

    /** An answer, and the time at which its request was sent. */
    record Answer(SyncReply reply, long sentAtMillis) {}

    /**
     * Sends the actual state and returns the desired state.
     *
     * @param madeAtMillis the time at which the states in the request were read; a login may delay the sending
     * @param answerMillis how long the answer may take beyond the time for which the service may hold the call
     * @throws IOException with a message for the operator when there is no answer; a {@link ServiceFailure} when the
     * answer is an error
     */
    Answer sync(SyncRequest request, long madeAtMillis, long answerMillis, BootClock clock)
            throws IOException, InterruptedException {
        String token = tokenSource.validToken();
        long sentAtMillis = clock.millis();
        byte[] body = json.writeValueAsBytes(request.agedBy(sentAtMillis - madeAtMillis));
        HttpResponse<byte[]> response = send(
                http,
                HttpRequest.newBuilder(sync)
                        .timeout(Duration.ofMillis(request.waitMillis() + answerMillis))
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .header("Accept", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), MAX_REPLY_BYTES));
        if (response.statusCode() == 401) {
            tokenSource.discard(token);
        }
        if (response.statusCode() != 200) {
            throw failure(json, sync, response);
        }
        SyncReply reply = json.readValue(response.body(), SyncReply.class);
        if (reply.formatVersion() != Protocol.FORMAT_VERSION) {
            throw new IOException("the service speaks format %d, this agent %d"
                    .formatted(reply.formatVersion(), Protocol.FORMAT_VERSION));
        }
        return new Answer(reply, sentAtMillis);
    }

    /** The failure with the text of the problem document, if there is one. */
    static ServiceFailure failure(ObjectMapper json, URI address, HttpResponse<byte[]> response) {
        String code = "";
        String detail = "";
        try {
            JsonNode problem = json.readTree(response.body());
            code = problem.path("code").asText("");
            detail = problem.path("detail").asText("");
        } catch (IOException e) {
            // A system between this node and the service answered.
        }
        String message = "%s answers with status %d".formatted(address, response.statusCode());
        return new ServiceFailure(
                response.statusCode(), code, code.isEmpty() ? message : "%s, %s: %s".formatted(message, code, detail));
    }

    /**
     * Sends a request. Unlike the HTTP client, whose messages are empty or lack the address, a failure names the
     * address.
     */
    static <T> HttpResponse<T> send(HttpClient http, HttpRequest request, HttpResponse.BodyHandler<T> handler)
            throws IOException, InterruptedException {
        try {
            return http.send(request, handler);
        } catch (ConnectException e) {
            throw new IOException("cannot reach " + request.uri(), e);
        } catch (HttpTimeoutException e) {
            throw new IOException("no answer in time from " + request.uri(), e);
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
