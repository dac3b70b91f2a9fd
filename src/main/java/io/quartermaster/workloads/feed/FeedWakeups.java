package io.quartermaster.workloads.feed;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Notifies live views of new entries in their tenant's feed, with one subscription per replica for any number of views.
 */
@ApplicationScoped
class FeedWakeups {

    private static final String ALL = "qm:{*}:feed";

    private final ReactiveRedisDataSource redis;
    private final Wakeups wakeups;
    private final Map<String, Waiting> byChannel = new ConcurrentHashMap<>();

    /**
     * The views that wait for a channel, and the number of its wake-ups, so that none is lost between a read and a
     * wait.
     */
    private static final class Waiting {
        private long turns;
        private final Set<UniEmitter<? super Long>> emitters = ConcurrentHashMap.newKeySet();
    }

    FeedWakeups(ReactiveRedisDataSource redis, Wakeups wakeups) {
        this.redis = redis;
        this.wakeups = wakeups;
    }

    void start(@Observes StartupEvent event) {
        wakeups.onNotification(this::wake);
        redis.pubsub(String.class)
                .subscribeAsMessagesToPatterns(ALL)
                .onFailure()
                .retry()
                .withBackOff(Duration.ofMillis(200), Duration.ofSeconds(5))
                .indefinitely()
                .subscribe()
                .with(message -> wake(message.getChannel()), failure -> {});
    }

    /** The number of wake-ups so far. Get it before reading the feed, and pass it to {@link #after}. */
    long turn(TenantId tenant) {
        Waiting waiting = byChannel.get(Wakeups.feed(tenant));
        if (waiting == null) {
            return 0;
        }
        synchronized (waiting) {
            return waiting.turns;
        }
    }

    /**
     * Completes at the first wake-up after that number, at the latest after the given time. Then the caller reads the
     * feed.
     */
    Uni<Long> after(TenantId tenant, long turn, Duration atMost) {
        Waiting waiting = byChannel.computeIfAbsent(Wakeups.feed(tenant), channel -> new Waiting());
        return Uni.createFrom()
                .<Long>emitter(emitter -> {
                    synchronized (waiting) {
                        if (waiting.turns != turn) {
                            emitter.complete(waiting.turns);
                            return;
                        }
                        waiting.emitters.add(emitter);
                    }
                    emitter.onTermination(() -> waiting.emitters.remove(emitter));
                })
                .ifNoItem()
                .after(atMost)
                .recoverWithItem(turn);
    }

    private void wake(String channel) {
        Waiting waiting = byChannel.get(channel);
        if (waiting == null) {
            return;
        }
        Set<UniEmitter<? super Long>> woken;
        long turns;
        synchronized (waiting) {
            turns = ++waiting.turns;
            woken = Set.copyOf(waiting.emitters);
            waiting.emitters.clear();
        }
        woken.forEach(emitter -> emitter.complete(turns));
    }
}
