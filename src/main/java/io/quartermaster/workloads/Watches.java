package io.quartermaster.workloads;

import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Live views of a tenant's feed. A view reads what came after the entry it saw last, whenever it is woken and every few seconds besides;
 * so nothing is missed or shown twice, whatever becomes of wake-ups, connections and replicas. It ends after a while by itself and is
 * resumed by its client: rights taken away in between count from then on.
 */
@ApplicationScoped
class Watches {

    private static final Duration HEARTBEAT = Duration.ofSeconds(15);
    private static final Duration LONGEST = Duration.ofMinutes(15);

    private final FeedStore feed;
    private final FeedWakeups wakeups;
    private final WorkloadsConfig config;
    private final Map<TenantId, Integer> open = new ConcurrentHashMap<>();

    Watches(FeedStore feed, FeedWakeups wakeups, WorkloadsConfig config) {
        this.feed = feed;
        this.wakeups = wakeups;
        this.config = config;
    }

    /** What is sent: an entry of the feed, or nothing but a sign of life. */
    sealed interface Signal {
        record Entry(FeedStore.Entry entry) implements Signal {}

        record Heartbeat() implements Signal {}
    }

    /**
     * Where a view begins: after the entry its client saw last, else now. Fails when entries after that one are gone.
     *
     * @param lastSeen what the client sent as {@code Last-Event-ID}
     */
    Uni<Long> begin(TenantId tenant, @Nullable String lastSeen) {
        if (lastSeen == null || lastSeen.isBlank()) {
            return feed.newest(tenant);
        }
        return feed.resumable(tenant, number(lastSeen))
                .map(from -> from.orElseThrow(() -> ProblemException.of(
                        410,
                        "feed-entry-gone",
                        "entries after that one are not kept any more: list the workloads, then watch from now")));
    }

    Multi<Signal> after(TenantId tenant, long seq, Optional<UUID> workload) {
        return Multi.createFrom()
                .deferred(() -> {
                    enter(tenant);
                    View view = new View(tenant, seq, workload);
                    return Multi.createBy()
                            .repeating()
                            .uni(view::turn)
                            .indefinitely()
                            .onItem()
                            .<Signal>disjoint()
                            .onTermination()
                            .invoke(() -> leave(tenant));
                })
                .select()
                .first(LONGEST);
    }

    private final class View {
        private final TenantId tenant;
        private final Optional<UUID> workload;
        private long seen;
        private long spokenNanos = System.nanoTime();

        View(TenantId tenant, long seq, Optional<UUID> workload) {
            this.tenant = tenant;
            this.seen = seq;
            this.workload = workload;
        }

        Uni<List<Signal>> turn() {
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

    private void enter(TenantId tenant) {
        int most = config.watchersPerTenant();
        int now = open.merge(tenant, 1, Integer::sum);
        if (now > most) {
            leave(tenant);
            throw ProblemException.of(
                    429, "too-many-watches", "a tenant may keep " + most + " live views open on one replica");
        }
    }

    private void leave(TenantId tenant) {
        open.computeIfPresent(tenant, (id, count) -> count == 1 ? null : count - 1);
    }

    private static long number(String text) {
        try {
            long number = Long.parseLong(text.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            // refused below
        }
        throw ProblemException.invalid("Last-Event-ID", "not an id of this feed", "the id of an event received before");
    }
}
