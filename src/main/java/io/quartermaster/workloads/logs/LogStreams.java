package io.quartermaster.workloads.logs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.StreamedResponse;
import io.quartermaster.workloads.WorkloadState;
import io.quartermaster.workloads.WorkloadsConfig;
import io.quartermaster.workloads.feed.Viewers;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.RoutingContext;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.MediaType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * Streams the output of a workload as server-sent events. A stream reads what agents reported after its position, every
 * few seconds, from any replica. It goes from each attempt to the next, and ends with the workload.
 *
 * <p>A stream also ends after a while, at the latest when its caller's token expires, and its client resumes it. It
 * ends within a minute when its caller or its tenant no longer exists.
 */
@ApplicationScoped
class LogStreams {

    private static final Duration HEARTBEAT = Duration.ofSeconds(15);
    /** How long a client may take to read one batch of events. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /** Beyond the life of every stream, which ends by itself. */
    private static final Duration LIMIT = Duration.ofMinutes(20);
    /** A report becomes visible at most this much later than the time that it states. */
    private static final Duration REPORT_DELAY = Duration.ofSeconds(10);

    private static final String STILL_HERE = ": still here\n\n";

    private final LogStore store;
    private final WorkloadsConfig config;
    private final Viewers viewers;
    private final ObjectMapper json;
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "log-streams");
        thread.setDaemon(true);
        return thread;
    });

    LogStreams(LogStore store, WorkloadsConfig config, Viewers viewers, ObjectMapper json) {
        this.store = store;
        this.config = config;
        this.viewers = viewers;
        this.json = json;
    }

    @PreDestroy
    void stop() {
        timers.shutdownNow();
    }

    /**
     * Answers with the stream. Fails before it begins if there is no such workload or attempt, or if the tenant has too
     * many live views.
     *
     * @param attempt the only attempt to read; empty: from the newest on
     * @param lastSeen the value that the client sent as {@code Last-Event-ID}
     */
    Uni<Void> send(
            TenantId tenant,
            Viewers.Viewer viewer,
            UUID workload,
            OptionalInt attempt,
            @Nullable String lastSeen,
            RoutingContext http) {
        LogPosition resumed = LogPosition.parseOrNull(lastSeen);
        return store.read(tenant, workload, 0, Instant.EPOCH)
                .map(found -> found.orElseThrow(ProblemException::notFound))
                .map(found -> begin(found, attempt, resumed))
                .chain(position -> {
                    viewers.enter(tenant);
                    View view = new View(tenant, viewer.caller(), workload, attempt.isPresent(), position);
                    return response(http)
                            .send(view.events().select().first(viewer.longest()))
                            .eventually(() -> viewers.leave(tenant));
                });
    }

    private StreamedResponse response(RoutingContext http) {
        Map<String, String> headers =
                Map.of(HttpHeaders.CONTENT_TYPE, MediaType.SERVER_SENT_EVENTS, HttpHeaders.CACHE_CONTROL, "no-store");
        return new StreamedResponse(http, headers, new StreamedResponse.Limits(PATIENCE, LIMIT), timers);
    }

    private static LogPosition begin(LogStore.Outputs found, OptionalInt attempt, @Nullable LogPosition resumed) {
        int newest = Math.max(1, found.attempts());
        if (attempt.isPresent() && (attempt.getAsInt() < 1 || attempt.getAsInt() > found.attempts())) {
            throw ProblemException.notFound();
        }
        if (resumed == null) {
            return new LogPosition(attempt.orElse(newest), new TreeMap<>());
        }
        if (resumed.attempt() > newest || attempt.isPresent() && attempt.getAsInt() != resumed.attempt()) {
            throw ProblemException.invalid(
                    "Last-Event-ID",
                    "names attempt " + resumed.attempt() + ", which this stream does not have",
                    "an id of an event received before from this stream");
        }
        return resumed;
    }

    /** One reader of one workload. */
    private final class View {
        private final TenantId tenant;
        private final Caller caller;
        private final UUID workload;
        private final boolean oneAttempt;
        private LogPosition position;
        /** The length of each output when it was read last. */
        private final Map<Integer, Long> lengths = new HashMap<>();

        private Instant since = Instant.EPOCH;
        private boolean begun;
        private long spokenNanos = System.nanoTime();
        private long checkedNanos = spokenNanos;
        private volatile boolean over;

        View(TenantId tenant, Caller caller, UUID workload, boolean oneAttempt, LogPosition position) {
            this.tenant = tenant;
            this.caller = caller;
            this.workload = workload;
            this.oneAttempt = oneAttempt;
            this.position = position;
        }

        Multi<Buffer> events() {
            return Multi.createBy()
                    .repeating()
                    .uni(this::turn)
                    .whilst(events -> !over)
                    .select()
                    .where(events -> !events.isEmpty())
                    .map(Buffer::buffer);
        }

        private Uni<String> turn() {
            long now = System.nanoTime();
            if (now - checkedNanos < config.watchRecheck().toNanos()) {
                return next();
            }
            checkedNanos = now;
            return viewers.isEntitled(caller, tenant).chain(entitled -> {
                over = !entitled;
                return entitled ? next() : Uni.createFrom().item("");
            });
        }

        /** Reads immediately in the first turn, so that the answer begins, and later after a pause. */
        private Uni<String> next() {
            boolean first = !begun;
            begun = true;
            Uni<String> read = Uni.createFrom().deferred(this::read);
            return first
                    ? read.map(events -> events.isEmpty() ? STILL_HERE : events)
                    : Uni.createFrom()
                            .voidItem()
                            .onItem()
                            .delayIt()
                            .onExecutor(timers)
                            .by(config.logPoll())
                            .chain(() -> read);
        }

        private Uni<String> read() {
            return store.read(tenant, workload, position.attempt(), since)
                    .map(found -> found.map(this::events).orElseGet(() -> {
                        over = true;
                        return "";
                    }))
                    .map(this::orHeartbeat);
        }

        private String orHeartbeat(String events) {
            long now = System.nanoTime();
            if (events.isEmpty() && now - spokenNanos < HEARTBEAT.toNanos()) {
                return events;
            }
            spokenNanos = now;
            return events.isEmpty() ? STILL_HERE : events;
        }

        private String events(LogStore.Outputs found) {
            StringBuilder events = new StringBuilder();
            LogStore.OneAttempt attempt = found.attempt();
            boolean ended = attempt != null && attempt.ended();
            found.outputs().forEach(output -> append(events, output, ended));
            found.outputs().stream()
                    .map(LogStore.Output::at)
                    .max(Instant::compareTo)
                    .ifPresent(newest -> since = newest.minus(REPORT_DELAY));
            if (attempt == null || ended) {
                finish(events, found, attempt == null);
            }
            return events.toString();
        }

        private void append(StringBuilder events, LogStore.Output output, boolean ended) {
            int worker = output.worker();
            Long before = lengths.put(worker, output.bytes());
            // A surplus worker that came again begins at 0.
            long offset = output.bytes() < position.offset(worker) ? 0 : position.offset(worker);
            boolean rests = before != null && before == output.bytes();
            LogTailCutter.Cut cut =
                    LogTailCutter.after(output.tail(), output.bytes(), offset, ended || output.ended() || rests);
            if (cut.lostBytes() > 0 && offset > 0) {
                position = position.after(position.attempt(), worker, cut.fromOffset());
                events.append(event(
                        "gap",
                        position.id(),
                        Map.of("attempt", position.attempt(), "worker", worker, "lostBytes", cut.lostBytes())));
            }
            for (LogTailCutter.Line line : cut.lines()) {
                position = position.after(position.attempt(), worker, line.endOffset());
                events.append(event(
                        "log",
                        position.id(),
                        new LogLine(
                                position.attempt(),
                                worker,
                                LogLine.COMBINED,
                                output.at(),
                                line.text(),
                                line.partial())));
            }
        }

        /** Continues with the next attempt, or ends the stream when no more output can come. */
        private void finish(StringBuilder events, LogStore.Outputs found, boolean missing) {
            if (oneAttempt) {
                over = true;
            } else if (found.attempts() > position.attempt()) {
                position = new LogPosition(position.attempt() + 1, new TreeMap<>());
                lengths.clear();
                since = Instant.EPOCH;
            } else if (WorkloadState.of(found.state()) instanceof WorkloadState.Over) {
                over = true;
            }
            if (over) {
                Map<String, Object> end = new LinkedHashMap<>();
                end.put("state", found.state());
                if (!missing) {
                    end.put("attempt", position.attempt());
                }
                events.append(event("end", position.id(), end));
            }
        }
    }

    private String event(String name, String id, Object data) {
        List<String> lines = new ArrayList<>();
        lines.add("event: " + name);
        if (!id.isEmpty()) {
            lines.add("id: " + id);
        }
        lines.add("data: " + write(data));
        return String.join("\n", lines) + "\n\n";
    }

    private String write(Object data) {
        try {
            return json.writeValueAsString(data);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not write an event as JSON", e);
        }
    }
}
