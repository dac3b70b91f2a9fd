package io.quartermaster.client.connection;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reads server-sent events, each once and in order. A connection that ends or breaks is made again after the last event
 * that was read. While the service is away, the pauses become longer.
 */
public final class EventStream {

    /** The service sends something every 15 seconds, so a longer silence is a broken connection. */
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(60);

    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(15);

    /** An event with its data, which is JSON. */
    public record Event(String name, JsonNode data) {}

    /** Receives the events of a stream, and its outages. */
    public interface Reader {

        /** Returns whether further events are wanted. */
        boolean read(Event event);

        /** Called once when the service stops answering, and the stream tries again. */
        void onOutage(String reason);
    }

    private final ServiceConnection service;
    private final String path;
    private final Map<String, String> query;
    private final Reader reader;
    private String lastId;
    private Duration pause = FIRST_PAUSE;
    private boolean away;
    private long awaySinceNanos;

    /** @param lastId the id after which the events begin; empty: as the service chooses */
    public EventStream(
            ServiceConnection service, String path, Map<String, String> query, String lastId, Reader reader) {
        this.service = service;
        this.path = path;
        this.query = Map.copyOf(query);
        this.lastId = lastId;
        this.reader = reader;
    }

    /**
     * Reads events until the reader wants no more, or the thread is interrupted.
     *
     * @throws CommandFailure if the service refuses the request, or is away for {@link OutagePatience#DEFAULT}
     */
    public void read() {
        boolean more = true;
        while (more) {
            try {
                more = connect();
            } catch (IOException e) {
                waitForService(e.getMessage() == null ? "the connection broke" : e.getMessage());
            } catch (CommandFailure e) {
                // The realm, which renews the token, is away.
                if (e.status() != ExitStatus.UNAVAILABLE) {
                    throw e;
                }
                waitForService(e.text());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommandFailure(ExitStatus.FAILED, "interrupted");
            }
        }
    }

    /** Reads from one connection; returns whether to make another. */
    private boolean connect() throws IOException, InterruptedException {
        String bearer = service.token().current();
        HttpResponse<InputStream> response = service.web().open(request(bearer));
        if (response.statusCode() == 401) {
            response.body().close();
            response = service.web().open(request(service.token().afterRefusal(bearer)));
        }
        if (response.statusCode() != 200) {
            throw refusal(response);
        }
        try (InputStream body = response.body();
                ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(work -> {
                    Thread thread = new Thread(work, "silence");
                    thread.setDaemon(true);
                    return thread;
                })) {
            boolean more = new Parser(body, watch).readAll();
            watch.shutdownNow();
            if (more) {
                Thread.sleep(FIRST_PAUSE);
            }
            return more;
        }
    }

    private HttpRequest.Builder request(String bearer) {
        String uri = service.server() + path + (query.isEmpty() ? "" : "?" + WebClient.form(query));
        HttpRequest.Builder request = WebClient.request(uri)
                .header("Authorization", "Bearer " + bearer)
                .header("Accept", "text/event-stream, application/json;q=0.9");
        return lastId.isEmpty() ? request : request.header("Last-Event-ID", lastId);
    }

    /** The failure of an answer: an {@link IOException} if another attempt may succeed. */
    private static RuntimeException refusal(HttpResponse<InputStream> response) throws IOException {
        String text;
        try (InputStream body = response.body()) {
            text = new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
        CommandFailure failure = ServiceConnection.failure(new ServiceReply(
                response.statusCode(), WebClient.read(text), Optional.empty(), WebClient.requestId(response)));
        if (response.statusCode() == 429 || response.statusCode() >= 500) {
            throw new IOException(failure.text());
        }
        return failure;
    }

    private void waitForService(String reason) {
        if (!away) {
            away = true;
            awaySinceNanos = System.nanoTime();
            reader.onOutage(reason);
        } else if (System.nanoTime() - awaySinceNanos > OutagePatience.DEFAULT.toNanos()) {
            throw new CommandFailure(ExitStatus.UNAVAILABLE, reason);
        }
        try {
            Thread.sleep(pause);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    /** Reads the lines of one answer, as the HTML standard section 9.2 describes them. */
    private final class Parser {
        private final InputStream body;
        private final BufferedReader lines;
        private volatile long heardNanos = System.nanoTime();
        private String name = "message";
        private @Nullable String data;

        /** Counts from the end of its event on: an event that breaks off is sent again. */
        private String nextId = lastId;

        Parser(InputStream body, ScheduledExecutorService watch) {
            this.body = body;
            this.lines = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
            watch.scheduleAtFixedRate(this::closeIfSilent, 5, 5, TimeUnit.SECONDS);
        }

        private void closeIfSilent() {
            if (System.nanoTime() - heardNanos > LONGEST_SILENCE.toNanos()) {
                try {
                    body.close();
                } catch (IOException e) {
                    // The reader of the connection finds it broken.
                    return;
                }
            }
        }

        boolean readAll() throws IOException {
            @Nullable String line = lines.readLine();
            while (line != null) {
                heardNanos = System.nanoTime();
                pause = FIRST_PAUSE;
                away = false;
                if (line.isEmpty()) {
                    if (!dispatch()) {
                        return false;
                    }
                } else {
                    field(line);
                }
                line = lines.readLine();
            }
            return true;
        }

        private void field(String line) {
            int colon = line.indexOf(':');
            String field = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 1);
            value = value.startsWith(" ") ? value.substring(1) : value;
            switch (field) {
                case "event" -> name = value;
                case "data" -> data = data == null ? value : data + "\n" + value;
                case "id" -> nextId = value;
                default -> {
                    // Comments and fields that readers ignore.
                }
            }
        }

        private boolean dispatch() {
            String text = data;
            String event = name;
            data = null;
            name = "message";
            boolean more = text == null || reader.read(new Event(event, WebClient.read(text)));
            lastId = nextId;
            return more;
        }
    }
}
