package io.quartermaster.workloads.logs;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.Caller;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ShutdownNotice;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;
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
    /** The most characters of events that are in memory at a time, except for the last event. */
    private static final int PIECE = 64 * 1024;
    /** Positions of more workers are long, and only the last event of a piece has them. */
    private static final int FEW_WORKERS = 8;

    private static final String STILL_HERE = ": still here\n\n";

    private final LogStore store;
    private final WorkloadsConfig config;
    private final Viewers viewers;
    private final ObjectMapper json;
    private final ShutdownNotice shutdownNotice;
    private final ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor(work -> {
        Thread thread = new Thread(work, "log-streams");
        thread.setDaemon(true);
        return thread;
    });

    LogStreams(
            LogStore store, WorkloadsConfig config, Viewers viewers, ObjectMapper json, ShutdownNotice shutdownNotice) {
        this.shutdownNotice = shutdownNotice;
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
        return store.read(tenant, workload, 0, -1, Map.of())
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
        private int attempt;
        private final TreeMap<Integer, Long> offsets;
        /** The state of each output when it was read last, by its key. */
        private final Map<String, Seen> seen = new HashMap<>();
        /** The lengths of the outputs of which everything was sent, by their keys. */
        private final Map<String, Long> settled = new HashMap<>();

        private int lastWorker = -1;
        private boolean full;
        private boolean toldOfOmitted;
        private Iterator<String> pieces = Collections.emptyIterator();
        private boolean begun;
        private long spokenNanos = System.nanoTime();
        private long checkedNanos = spokenNanos;
        private volatile boolean over;

        View(TenantId tenant, Caller caller, UUID workload, boolean oneAttempt, LogPosition position) {
            this.tenant = tenant;
            this.caller = caller;
            this.workload = workload;
            this.oneAttempt = oneAttempt;
            this.attempt = position.attempt();
            this.offsets = new TreeMap<>(position.offsets());
        }

        Multi<Buffer> events() {
            return Multi.createBy()
                    .repeating()
                    .uni(this::turn)
                    .whilst(events -> !over && !shutdownNotice.isGiven())
                    .select()
                    .where(events -> !events.isEmpty())
                    .map(Buffer::buffer);
        }

        /** The next piece; the client has read the one before. */
        private Uni<String> turn() {
            if (pieces.hasNext()) {
                spokenNanos = System.nanoTime();
                return Uni.createFrom().item(pieces.next());
            }
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

        /**
         * Reads immediately in the first turn, so that the answer begins, and where more may be there. Otherwise it
         * reads after a pause.
         */
        private Uni<String> next() {
            boolean first = !begun;
            begun = true;
            Uni<String> read = Uni.createFrom().deferred(this::read);
            if (!first && full) {
                return read;
            }
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
            return store.read(tenant, workload, attempt, lastWorker, settled)
                    .map(found -> found.map(this::firstPiece).orElseGet(() -> {
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

        private String firstPiece(LogStore.Outputs found) {
            Iterator<String> events = new Pieces(this, found);
            String first = events.hasNext() ? events.next() : "";
            pieces = events;
            // A slice without anything new has only rests of lines, which wait for the next report.
            full = found.isFull() && !first.isEmpty();
            if (!found.outputs().isEmpty()) {
                lastWorker = found.outputs().getLast().worker();
            }
            return first;
        }

        /** The events of one output, in its order. Each is made when it is asked for. */
        private Iterator<String> events(LogStore.Output output, boolean attemptEnded) {
            int worker = output.worker();
            Seen before = seen.get(output.key());
            boolean cameAgain = before == null && seen.keySet().stream().anyMatch(key -> key.endsWith(":" + worker));
            long offset = offsets.getOrDefault(worker, 0L);
            // Another output of the worker begins at 0. After a reconnection, only its length can show that.
            if (cameAgain || before == null && output.bytes() < offset) {
                seen.keySet().removeIf(key -> key.endsWith(":" + worker));
                settled.keySet().removeIf(key -> key.endsWith(":" + worker));
                offset = 0;
            }
            boolean ended = attemptEnded || output.ended();
            boolean again = before != null && before.bytes() == output.bytes();
            boolean rests = before != null
                    && again
                    && System.nanoTime() - before.atNanos() >= config.logPoll().toNanos();
            boolean cut = !ended && LogTailCutter.endsInsideCharacter(output.tail());
            boolean waits = cut && !rests && (again || before == null || !before.waited());
            seen.put(output.key(), seenNow(before, output.bytes(), waits));
            if (waits) {
                return Collections.emptyIterator();
            }
            boolean whole = ended || rests && !cut;
            LogTailCutter.Cut lines = LogTailCutter.after(output.tail(), output.bytes(), offset, whole);
            List<Supplier<String>> events = new ArrayList<>(lines.lines().size() + 1);
            if (lines.lostBytes() > 0 && offset > 0) {
                events.add(() -> {
                    offsets.put(worker, lines.fromOffset());
                    return event(
                            "gap",
                            briefId(),
                            Map.of("attempt", attempt, "worker", worker, "lostBytes", lines.lostBytes()));
                });
            }
            lines.lines()
                    .forEach(line -> events.add(() -> {
                        offsets.put(worker, line.endOffset());
                        return event(
                                "log",
                                briefId(),
                                new LogLine(
                                        attempt, worker, LogLine.COMBINED, output.at(), line.text(), line.partial()));
                    }));
            if (whole || lines.endOffset() >= output.bytes()) {
                settled.put(output.key(), output.bytes());
            }
            return events.stream().map(Supplier::get).iterator();
        }

        /** A report that is read again keeps the time of its first reading. */
        private static Seen seenNow(@Nullable Seen before, long bytes, boolean waits) {
            return new Seen(
                    bytes, waits, before != null && before.bytes() == bytes ? before.atNanos() : System.nanoTime());
        }

        private String id() {
            return new LogPosition(attempt, offsets).id();
        }

        private String briefId() {
            return offsets.size() <= FEW_WORKERS ? id() : "";
        }

        /** Says once that there are more workers than a stream follows. */
        private String omitted(LogStore.Outputs found) {
            if (toldOfOmitted || found.workers() <= LogStore.MOST_FOLLOWED) {
                return "";
            }
            toldOfOmitted = true;
            return event(
                    "omitted",
                    "",
                    Map.of("attempt", attempt, "workers", found.workers(), "followed", LogStore.MOST_FOLLOWED));
        }

        /** Continues with the next attempt, or ends the stream when no more output can come. Returns the last event. */
        private String finish(LogStore.Outputs found) {
            LogStore.OneAttempt read = found.attempt();
            if (read != null && !read.ended() || found.isFull()) {
                return "";
            }
            if (oneAttempt) {
                over = true;
            } else if (found.attempts() > attempt) {
                attempt++;
                offsets.clear();
                seen.clear();
                settled.clear();
                lastWorker = -1;
                toldOfOmitted = false;
            } else if (WorkloadState.of(found.state()) instanceof WorkloadState.Over) {
                over = true;
            }
            if (!over) {
                return "";
            }
            Map<String, Object> end = new LinkedHashMap<>();
            end.put("state", found.state());
            if (read != null) {
                end.put("attempt", attempt);
            }
            return event("end", id(), end);
        }
    }

    /**
     * A report of an output.
     *
     * @param waited whether it ended inside a character, so that nothing of it was sent
     * @param atNanos when it was read first, by {@link System#nanoTime}
     */
    private record Seen(long bytes, boolean waited, long atNanos) {}

    /** The events of one read, in pieces; each is made when the client has read the one before. */
    private static final class Pieces implements Iterator<String> {
        private final View view;
        private final LogStore.Outputs found;
        private final Iterator<LogStore.Output> outputs;
        private Iterator<String> events = Collections.emptyIterator();
        private boolean begun;
        private boolean finished;
        private String next = "";

        Pieces(View view, LogStore.Outputs found) {
            this.view = view;
            this.found = found;
            this.outputs = found.outputs().iterator();
        }

        /** Makes the piece: what it says must be sent before the view reads again. */
        @Override
        public boolean hasNext() {
            if (next.isEmpty() && !finished) {
                next = piece();
            }
            return !next.isEmpty();
        }

        @Override
        public String next() {
            if (!hasNext()) {
                throw new NoSuchElementException();
            }
            String piece = next;
            next = "";
            return piece;
        }

        private String piece() {
            StringBuilder piece = new StringBuilder();
            if (!begun) {
                begun = true;
                piece.append(view.omitted(found));
            }
            LogStore.OneAttempt read = found.attempt();
            boolean ended = read != null && read.ended();
            while (piece.length() < PIECE) {
                if (events.hasNext()) {
                    piece.append(events.next());
                } else if (outputs.hasNext()) {
                    events = view.events(outputs.next(), ended);
                } else {
                    finished = true;
                    break;
                }
            }
            if (!piece.isEmpty() && view.briefId().isEmpty() && !view.offsets.isEmpty()) {
                piece.append("id: ").append(view.id()).append("\n: position\n\n");
            }
            return finished ? piece.append(view.finish(found)).toString() : piece.toString();
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
