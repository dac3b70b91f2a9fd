package io.quartermaster.workloads.feed;

import io.quartermaster.access.Caller;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
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

    private static final Duration HEARTBEAT = Duration.ofSeconds(15);

    private final FeedStore feed;
    private final FeedWakeups wakeups;
    private final WorkloadsConfig config;
    private final Viewers viewers;

    WorkloadStreams(FeedStore feed, FeedWakeups wakeups, WorkloadsConfig config, Viewers viewers) {
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
    Uni<Long> begin(TenantId tenant, @Nullable String lastSeen) {
        if (lastSeen == null || lastSeen.isBlank()) {
            return feed.newest(tenant);
        }
        return feed.resumable(tenant, number(lastSeen))
                .map(from -> from.orElseThrow(() -> ProblemException.of(
                        410,
                        "feed-entry-gone",
                        "the entries after Last-Event-ID are no longer kept: list the workloads, then"
                                + " watch from now")));
    }

    Multi<Signal> after(TenantId tenant, Viewers.Viewer viewer, long seq, Optional<UUID> workload) {
        return Multi.createFrom()
                .deferred(() -> {
                    viewers.enter(tenant);
                    View view = new View(tenant, viewer.caller(), seq, workload);
                    return Multi.createBy()
                            .repeating()
                            .uni(view::turn)
                            .whilst(signals -> !view.isOver())
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
        private long seen;
        private long spokenNanos = System.nanoTime();
        private long checkedNanos = spokenNanos;
        private volatile boolean over;

        View(TenantId tenant, Caller caller, long seq, Optional<UUID> workload) {
            this.tenant = tenant;
            this.caller = caller;
            this.seen = seq;
            this.workload = workload;
        }

        boolean isOver() {
            return over;
        }

        Uni<List<Signal>> turn() {
            long now = System.nanoTime();
            if (now - checkedNanos < config.watchRecheck().toNanos()) {
                return read();
            }
            checkedNanos = now;
            return viewers.isEntitled(caller, tenant).chain(entitled -> {
                over = !entitled;
                return entitled ? read() : Uni.createFrom().item(List.<Signal>of());
            });
        }

        private Uni<List<Signal>> read() {
            long turn = wakeups.turn(tenant);
            return feed.after(tenant, seen)
                    .chain(entries -> entries.isEmpty()
                            ? wakeups.after(tenant, turn, config.watchPoll()).map(woken -> List.<FeedStore.Entry>of())
                            : Uni.createFrom().item(entries))
                    .map(this::signals);
        }

        private List<Signal> signals(List<FeedStore.Entry> entries) {
            if (!entries.isEmpty()) {
                seen = entries.getLast().seq();
            }
            List<Signal> signals = entries.stream()
                    .filter(entry -> workload.isEmpty()
                            || workload.get().equals(entry.event().workload()))
                    .<Signal>map(Signal.Entry::new)
                    .toList();
            long now = System.nanoTime();
            if (signals.isEmpty() && now - spokenNanos < HEARTBEAT.toNanos()) {
                return signals;
            }
            spokenNanos = now;
            return signals.isEmpty() ? List.of(new Signal.Heartbeat()) : signals;
        }
    }

    private static long number(String text) {
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
