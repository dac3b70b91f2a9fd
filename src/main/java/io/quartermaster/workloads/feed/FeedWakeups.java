package io.quartermaster.workloads.feed;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ShutdownNotice;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import io.smallrye.mutiny.subscription.UniEmitter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Notifies live views of new entries in their tenant's feed, with one subscription per replica for any number of views.
 */
@ApplicationScoped
class FeedWakeups {

    private static final String ALL_FEEDS = "qm:{*}:feed";

    private final ReactiveRedisDataSource redis;
    private final Wakeups wakeups;
    private final ShutdownNotice shutdownNotice;
    private volatile @Nullable Cancellable listening;
    private final Map<String, Waiters> byChannel = new ConcurrentHashMap<>();

    /**
     * The views that wait for a channel, and the number of its wake-ups, so that none is lost between a read and a
     * wait.
     */
    private static final class Waiters {
        private long wakeupCount;
        private final Set<UniEmitter<? super Long>> emitters = ConcurrentHashMap.newKeySet();
    }

    FeedWakeups(ReactiveRedisDataSource redis, Wakeups wakeups, ShutdownNotice shutdownNotice) {
        this.redis = redis;
        this.shutdownNotice = shutdownNotice;
        this.wakeups = wakeups;
    }

    void start(@Observes StartupEvent event) {
        wakeups.onNotification(this::wake);
        shutdownNotice.onNotice(this::wakeAll);
        listening = redis.pubsub(String.class)
                .subscribeAsMessagesToPatterns(ALL_FEEDS)
                .onFailure()
                .retry()
                .withBackOff(Duration.ofMillis(200), Duration.ofSeconds(5))
                .indefinitely()
                .subscribe()
                .with(message -> wake(message.getChannel()), failure -> {});
    }

    /** The number of wake-ups so far. Get it before reading the feed, and pass it to {@link #awaitWakeup}. */
    long wakeupCount(TenantId tenant) {
        Waiters waiters = byChannel.get(Wakeups.feedChannel(tenant));
        if (waiters == null) {
            return 0;
        }
        synchronized (waiters) {
            return waiters.wakeupCount;
        }
    }

    /**
     * Completes at the first wake-up after that number, at the latest after the given time or when the service is about
     * to stop. Then the caller reads the feed.
     */
    Uni<Long> awaitWakeup(TenantId tenant, long seenCount, Duration atMost) {
        Waiters waiters = byChannel.computeIfAbsent(Wakeups.feedChannel(tenant), channel -> new Waiters());
        return Uni.createFrom()
                .<Long>emitter(emitter -> {
                    synchronized (waiters) {
                        if (waiters.wakeupCount != seenCount || shutdownNotice.isGiven()) {
                            emitter.complete(waiters.wakeupCount);
                            return;
                        }
                        waiters.emitters.add(emitter);
                    }
                    emitter.onTermination(() -> waiters.emitters.remove(emitter));
                })
                .ifNoItem()
                .after(atMost)
                .recoverWithItem(seenCount);
    }

    /** Every view then sees that the service is about to stop, and ends. */
    private void wakeAll() {
        Cancellable open = listening;
        if (open != null) {
            open.cancel();
        }
        byChannel.keySet().forEach(this::wake);
    }

    private void wake(String channel) {
        Waiters waiters = byChannel.get(channel);
        if (waiters == null) {
            return;
        }
        Set<UniEmitter<? super Long>> woken;
        long wakeupCount;
        synchronized (waiters) {
            wakeupCount = ++waiters.wakeupCount;
            woken = Set.copyOf(waiters.emitters);
            waiters.emitters.clear();
        }
        woken.forEach(emitter -> emitter.complete(wakeupCount));
    }
}
