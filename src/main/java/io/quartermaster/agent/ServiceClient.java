package io.quartermaster.agent;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;

/** The one call to the service. Blocks its thread; interrupting that gives the call up. */
final class ServiceClient implements AutoCloseable {
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
    private static final long ANSWER_MILLIS = 15_000;
    private static final long MAX_REPLY_BYTES = 32L << 20;

    private final HttpClient http;
    private final ObjectMapper json;
    private final Tokens tokens;
    private final URI sync;

    ServiceClient(AgentConfig config) {
        this.http = HttpClient.newBuilder()
                .connectTimeout(CONNECT_LIMIT)
                .version(HttpClient.Version.HTTP_1_1)
                .build();
        this.json = JsonMapper.builder()
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
                .build();
        this.tokens = new Tokens(http, json, config.credentials());
        String base = config.server().toString().replaceAll("/+$", "");
        this.sync = URI.create(base + Protocol.syncPath(config.node()));
    }

    /** An answer, and when the question was sent. */
    record Answer(SyncReply reply, long sentAtMillis) {}

    /**
     * Sends what is, returns what should be.
     *
     * @throws IOException with a message for the operator when there is no usable answer
     */
    Answer sync(SyncRequest request, BootClock clock) throws IOException, InterruptedException {
        String token = tokens.current();
        byte[] body = json.writeValueAsBytes(request);
        long sentAtMillis = clock.millis();
        HttpResponse<byte[]> response = send(
                http,
                HttpRequest.newBuilder(sync)
                        .timeout(Duration.ofMillis(request.waitMillis() + ANSWER_MILLIS))
                        .header("Authorization", "Bearer " + token)
                        .header("Content-Type", "application/json")
                        .header("Accept", "application/json")
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.limiting(HttpResponse.BodyHandlers.ofByteArray(), MAX_REPLY_BYTES));
        if (response.statusCode() == 401) {
            tokens.drop();
        }
        if (response.statusCode() != 200) {
            throw new IOException("%s answers with status %d".formatted(sync, response.statusCode()));
        }
        SyncReply reply = json.readValue(response.body(), SyncReply.class);
        if (reply.formatVersion() != Protocol.FORMAT_VERSION) {
            throw new IOException("the service speaks format %d, this agent %d"
                    .formatted(reply.formatVersion(), Protocol.FORMAT_VERSION));
        }
        return new Answer(reply, sentAtMillis);
    }

    /** As the client sends, but a failure says where to: its own messages are empty or name no address. */
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
