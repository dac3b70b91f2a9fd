package io.quartermaster.workloads.feed;

import io.quartermaster.access.Caller;
import io.quartermaster.access.LiveRights;
import io.quartermaster.access.Permission;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.groups.RealmUsers;
import io.quartermaster.workloads.WorkloadsConfig;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
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
    private static final Duration MAX_DURATION = Duration.ofMinutes(15);
    /** If Keycloak does not confirm within this time whether the caller exists, the view continues. */
    private static final Duration KEYCLOAK_TIMEOUT = Duration.ofSeconds(5);

    private final FeedStore feed;
    private final FeedWakeups wakeups;
    private final WorkloadsConfig config;
    private final LiveRights rights;
    private final RealmUsers users;
    private final Map<TenantId, Integer> openViews = new ConcurrentHashMap<>();

    WorkloadStreams(FeedStore feed, FeedWakeups wakeups, WorkloadsConfig config, LiveRights rights, RealmUsers users) {
        this.feed = feed;
        this.wakeups = wakeups;
        this.config = config;
        this.rights = rights;
        this.users = users;
    }

    /** @param tokenExpiry when the viewer's right to the view ends, unless it presents a newer token */
    record Viewer(Caller caller, Instant tokenExpiry) {

        Duration maxDuration() {
            Duration left = Duration.between(Instant.now(), tokenExpiry);
            return left.compareTo(MAX_DURATION) > 0 ? MAX_DURATION : left.isPositive() ? left : Duration.ofMillis(1);
        }
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

    Multi<Signal> signalsAfter(TenantId tenant, Viewer viewer, long seq, Optional<UUID> workload) {
        return Multi.createFrom()
                .deferred(() -> {
                    acquireView(tenant);
                    View view = new View(tenant, viewer.caller(), seq, workload);
                    return Multi.createBy()
                            .repeating()
                            .uni(view::nextSignals)
                            .whilst(signals -> !view.hasEnded())
                            .onItem()
                            .<Signal>disjoint()
                            .onTermination()
                            .invoke(() -> releaseView(tenant));
                })
                .select()
                .first(viewer.maxDuration());
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
            return ended;
        }

        Uni<List<Signal>> nextSignals() {
            long now = System.nanoTime();
            if (now - lastCheckNanos < config.watchRecheck().toNanos()) {
                return readSignals();
            }
            lastCheckNanos = now;
            return isEntitled().chain(entitled -> {
                ended = !entitled;
                return entitled ? readSignals() : Uni.createFrom().item(List.<Signal>of());
            });
        }

        private Uni<Boolean> isEntitled() {
            return rights.mayRead(caller, tenant, Permission.WORKLOADS_READ)
                    .chain(may -> may
                            ? users.exists(caller, KEYCLOAK_TIMEOUT).onFailure().recoverWithItem(true)
                            : Uni.createFrom().item(false));
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

    private void acquireView(TenantId tenant) {
        int max = config.watchersPerTenant();
        int now = openViews.merge(tenant, 1, Integer::sum);
        if (now > max) {
            releaseView(tenant);
            throw ProblemException.of(
                    429,
                    "too-many-watches",
                    "a tenant may keep " + max + " live views open on one replica; close one first");
        }
    }

    private void releaseView(TenantId tenant) {
        openViews.computeIfPresent(tenant, (id, count) -> count == 1 ? null : count - 1);
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
