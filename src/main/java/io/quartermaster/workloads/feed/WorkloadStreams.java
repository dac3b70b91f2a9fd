package io.quartermaster.workloads.feed;

import io.quartermaster.access.Caller;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.http.ShutdownNotice;
import io.quartermaster.workloads.WorkloadsConfig;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The live views of tenants' feeds. A view reads the entries after the last one that it saw, at each wake-up and also
 * every few seconds. So it misses no entry and shows none twice, even when wake-ups, connections or replicas fail.
 *
 * <p>A view ends by itself after a while, at the latest when its caller's token expires, and its client resumes it. So
 * rights that were removed in the meantime take effect then. It also ends, within a minute, when its caller or its
 * tenant no longer exists.
 */
@ApplicationScoped
class WorkloadStreams {

    private static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(15);

    private final FeedStore feed;
    private final FeedWakeups wakeups;
    private final WorkloadsConfig config;
    private final Viewers viewers;
    private final ShutdownNotice shutdownNotice;

    WorkloadStreams(
            FeedStore feed,
            FeedWakeups wakeups,
            WorkloadsConfig config,
            Viewers viewers,
            ShutdownNotice shutdownNotice) {
        this.shutdownNotice = shutdownNotice;
        this.feed = feed;
        this.wakeups = wakeups;
        this.config = config;
        this.viewers = viewers;
    }

    /** A message to the client: an entry of the feed, or a heartbeat. */
    sealed interface Signal {
        record Entry(FeedStore.Entry entry) implements Signal {}

        record Heartbeat() implements Signal {}
    }

    /**
     * The number after which a view begins: the last entry that its client saw, or the newest. Fails if later entries
     * are no longer kept.
     *
     * @param lastSeen the value that the client sent as {@code Last-Event-ID}
     */
    Uni<Long> startingSeq(TenantId tenant, @Nullable String lastSeen) {
        if (lastSeen == null || lastSeen.isBlank()) {
            return feed.newestSeq(tenant);
        }
        return feed.resumableSeq(tenant, parseSeq(lastSeen))
                .map(from -> from.orElseThrow(() -> ProblemException.of(
                        410,
                        "feed-entry-gone",
                        "the entries after Last-Event-ID are no longer kept: list the workloads, then"
                                + " watch from now")));
    }

    Multi<Signal> signalsAfter(TenantId tenant, Viewers.Viewer viewer, long seq, Optional<UUID> workload) {
        return Multi.createFrom()
                .deferred(() -> {
                    viewers.enter(tenant);
                    View view = new View(tenant, viewer.caller(), seq, workload);
                    return Multi.createBy()
                            .repeating()
                            .uni(view::nextSignals)
                            .whilst(signals -> !view.hasEnded())
                            .onItem()
                            .<Signal>disjoint()
                            .onTermination()
                            .invoke(() -> viewers.leave(tenant));
                })
                .select()
                .first(viewer.longest());
    }

    private final class View {
        private final TenantId tenant;
        private final Caller caller;
        private final Optional<UUID> workload;
        private long lastSeq;
        private long lastSentNanos = System.nanoTime();
        private long lastCheckNanos = lastSentNanos;
        private volatile boolean ended;

        View(TenantId tenant, Caller caller, long seq, Optional<UUID> workload) {
            this.tenant = tenant;
            this.caller = caller;
            this.lastSeq = seq;
            this.workload = workload;
        }

        boolean hasEnded() {
            return ended || shutdownNotice.isGiven();
        }

        Uni<List<Signal>> nextSignals() {
            long now = System.nanoTime();
            if (now - lastCheckNanos < config.watchRecheck().toNanos()) {
                return readSignals();
            }
            lastCheckNanos = now;
            return viewers.isEntitled(caller, tenant).chain(entitled -> {
                ended = !entitled;
                return entitled ? readSignals() : Uni.createFrom().item(List.<Signal>of());
            });
        }

        private Uni<List<Signal>> readSignals() {
            long wakeupCount = wakeups.wakeupCount(tenant);
            return feed.readAfter(tenant, lastSeq)
                    .chain(entries -> entries.isEmpty()
                            ? wakeups.awaitWakeup(tenant, wakeupCount, config.watchPoll())
                                    .map(woken -> List.<FeedStore.Entry>of())
                            : Uni.createFrom().item(entries))
                    .map(this::toSignals);
        }

        private List<Signal> toSignals(List<FeedStore.Entry> entries) {
            if (!entries.isEmpty()) {
                lastSeq = entries.getLast().seq();
            }
            List<Signal> signals = entries.stream()
                    .filter(entry -> workload.isEmpty()
                            || workload.get().equals(entry.event().workload()))
                    .<Signal>map(Signal.Entry::new)
                    .toList();
            long now = System.nanoTime();
            if (signals.isEmpty() && now - lastSentNanos < HEARTBEAT_INTERVAL.toNanos()) {
                return signals;
            }
            lastSentNanos = now;
            return signals.isEmpty() ? List.of(new Signal.Heartbeat()) : signals;
        }
    }

    private static long parseSeq(String text) {
        try {
            long number = Long.parseLong(text.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // The throw below reports it.
        }
        throw ProblemException.invalid(
                "Last-Event-ID", "is not an id of this feed", "the id of an event received before");
    }
}
