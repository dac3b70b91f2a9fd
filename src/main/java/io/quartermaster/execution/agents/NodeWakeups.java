package io.quartermaster.execution.agents;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.runtime.StartupEvent;
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
 * Wakes held calls when their node's orders may have changed. Each replica has one subscription, whatever the number of
 * nodes.
 */
@ApplicationScoped
class NodeWakeups {

    private final ReactiveRedisDataSource redis;
    private final Wakeups wakeups;
    private final Map<String, Set<UniEmitter<? super Boolean>>> waiting = new ConcurrentHashMap<>();

    NodeWakeups(ReactiveRedisDataSource redis, Wakeups wakeups) {
        this.redis = redis;
        this.wakeups = wakeups;
    }

    void start(@Observes StartupEvent event) {
        wakeups.onNotification(this::wake);
        redis.pubsub(String.class)
                .subscribeAsMessagesToPatterns(
                        Wakeups.node("*").replace("{", "\\{").replace("}", "\\}"))
                .onFailure()
                .retry()
                .withBackOff(Duration.ofMillis(200), Duration.ofSeconds(5))
                .indefinitely()
                .subscribe()
                .with(message -> wake(message.getChannel()), failure -> {});
    }

    private void wake(String channel) {
        Set<UniEmitter<? super Boolean>> emitters = waiting.remove(channel);
        if (emitters != null) {
            emitters.forEach(emitter -> emitter.complete(true));
        }
    }

    /**
     * Completes when the node is woken, or with false after the given time: then the caller checks for changes itself.
     */
    Uni<Boolean> await(String nodeId, Duration atMost) {
        String channel = Wakeups.node(nodeId);
        return Uni.createFrom()
                .<Boolean>emitter(emitter -> {
                    // Must be one step: a call that is added to a set already removed would never be woken.
                    waiting.compute(channel, (c, emitters) -> {
                        Set<UniEmitter<? super Boolean>> all =
                                emitters == null ? ConcurrentHashMap.newKeySet() : emitters;
                        all.add(emitter);
                        return all;
                    });
                    emitter.onTermination(() -> waiting.computeIfPresent(channel, (c, emitters) -> {
                        emitters.remove(emitter);
                        return emitters.isEmpty() ? null : emitters;
                    }));
                })
                .ifNoItem()
                .after(atMost)
                .recoverWithItem(false);
    }
}
