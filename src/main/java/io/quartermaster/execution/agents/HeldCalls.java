package io.quartermaster.execution.agents;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.quartermaster.platform.http.ShutdownNotice;
import io.quartermaster.platform.inbox.Wakeups;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import io.smallrye.mutiny.subscription.UniEmitter;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The calls that this replica holds open until their node's desired state changes. The leader's wake-ups end them. In
 * case a wake-up was lost, one query at a time compares the revisions of all nodes whose calls are held.
 *
 * <p>Each replica has one subscription, whatever the number of nodes. Safe for use by several threads.
 */
@ApplicationScoped
class HeldCalls {

    /** The most calls that one query compares. */
    private static final int MAX_CALLS_PER_QUERY = 10_000;

    /** Longer than the time from the reading of a revision until the call is held. */
    private static final Duration WAKEUP_RETENTION = Duration.ofSeconds(10);

    private static final Duration COMPARE_TIMEOUT = Duration.ofSeconds(10);

    private static final Logger LOG = Logger.getLogger(HeldCalls.class);

    private final ReactiveRedisDataSource redis;
    private final Wakeups wakeups;
    private final ExecutorDatabase database;
    private final Vertx vertx;
    private final AgentProtocolConfig config;
    private final ShutdownNotice shutdownNotice;
    private volatile @Nullable Cancellable listening;
    private final Map<String, Set<WaitingCall>> waiting = new ConcurrentHashMap<>();
    /** When each channel was woken last, for the calls that are not held yet. */
    private final Map<String, Long> wokenAtNanos = new ConcurrentHashMap<>();

    private final AtomicBoolean comparing = new AtomicBoolean();

    HeldCalls(
            ReactiveRedisDataSource redis,
            Wakeups wakeups,
            ExecutorDatabase database,
            Vertx vertx,
            AgentProtocolConfig config,
            ShutdownNotice shutdownNotice) {
        this.redis = redis;
        this.wakeups = wakeups;
        this.database = database;
        this.vertx = vertx;
        this.config = config;
        this.shutdownNotice = shutdownNotice;
    }

    /** One held call, which ends on the Vert.x context of its request. */
    private record WaitingCall(
            UUID node,
            long revision,
            UniEmitter<? super Boolean> emitter,
            @Nullable Context caller) {

        void end(boolean woken) {
            Context own = caller;
            if (own == null) {
                emitter.complete(woken);
            } else {
                own.runOnContext(ignored -> emitter.complete(woken));
            }
        }
    }

    void start(@Observes StartupEvent event) {
        wakeups.onNotification(this::wake);
        shutdownNotice.onNotice(this::endAll);
        listening = redis.pubsub(String.class)
                .subscribeAsMessagesToPatterns(
                        Wakeups.nodeChannel("*").replace("{", "\\{").replace("}", "\\}"))
                .onFailure()
                .retry()
                .withBackOff(Duration.ofMillis(200), Duration.ofSeconds(5))
                .indefinitely()
                .subscribe()
                .with(message -> wake(message.getChannel()), failure -> {});
        vertx.setPeriodic(Math.max(1, config.poll().toMillis()), ignored -> compare());
    }

    /** Ends every held call, and holds no further one: the agents ask another replica, or this one when it is back. */
    void endAll() {
        Cancellable open = listening;
        if (open != null) {
            // Redis is still there now; the end of its connection would end the subscription with an error.
            open.cancel();
        }
        List<WaitingCall> calls = new ArrayList<>();
        waiting.values().forEach(calls::addAll);
        calls.forEach(call -> call.end(false));
    }

    private void wake(String channel) {
        // First: a call that is added after the removal must find it.
        wokenAtNanos.put(channel, System.nanoTime());
        Set<WaitingCall> calls = waiting.remove(channel);
        if (calls != null) {
            calls.forEach(call -> call.end(true));
        }
    }

    /**
     * Holds a call. Completes with true when the node is woken, or its revision is another than this one; with false
     * after the given time, or when the service is about to stop.
     *
     * @param readAtNanos a time before the revision was read: a wake-up since then also ends the call
     */
    Uni<Boolean> hold(UUID node, long revision, long readAtNanos, Duration atMost) {
        String channel = Wakeups.nodeChannel(node.toString());
        return Uni.createFrom().emitter(emitter -> {
            WaitingCall call = new WaitingCall(node, revision, emitter, Vertx.currentContext());
            // Must be one step: a call that is added to a set already removed would never be woken.
            waiting.compute(channel, (c, calls) -> {
                Set<WaitingCall> all = calls == null ? ConcurrentHashMap.newKeySet() : calls;
                all.add(call);
                return all;
            });
            long timer = vertx.setTimer(Math.max(1, atMost.toMillis()), ignored -> call.end(false));
            emitter.onTermination(() -> {
                vertx.cancelTimer(timer);
                waiting.computeIfPresent(channel, (c, calls) -> {
                    calls.remove(call);
                    return calls.isEmpty() ? null : calls;
                });
            });
            Long woken = wokenAtNanos.get(channel);
            if (woken != null && woken - readAtNanos >= 0) {
                call.end(true);
            } else if (shutdownNotice.isGiven()) {
                call.end(false);
            }
        });
    }

    /** Wakes the nodes whose revision differs from that of a held call. Never more than one query runs. */
    private void compare() {
        long now = System.nanoTime();
        wokenAtNanos.values().removeIf(woken -> now - woken > WAKEUP_RETENTION.toNanos());
        if (waiting.isEmpty() || !comparing.compareAndSet(false, true)) {
            return;
        }
        List<WaitingCall> calls = new ArrayList<>();
        waiting.values().forEach(calls::addAll);
        compareFrom(calls, 0)
                .ifNoItem()
                .after(COMPARE_TIMEOUT)
                .fail()
                .onTermination()
                .invoke(() -> comparing.set(false))
                .subscribe()
                .with(done -> {}, failure -> LOG.debugf("held calls were not compared: %s", failure.getMessage()));
    }

    private Uni<Void> compareFrom(List<WaitingCall> calls, int first) {
        if (first >= calls.size()) {
            return Uni.createFrom().voidItem();
        }
        List<WaitingCall> some = calls.subList(first, Math.min(calls.size(), first + MAX_CALLS_PER_QUERY));
        return database.on(connection -> connection
                        .preparedQuery("select distinct n.id from unnest($1::uuid[], $2::bigint[]) as x(id, revision)"
                                + " join node n on n.id = x.id where n.revision <> x.revision")
                        .execute(Tuple.of(
                                some.stream().map(WaitingCall::node).toArray(UUID[]::new),
                                some.stream().map(WaitingCall::revision).toArray(Long[]::new))))
                .invoke(rows -> rows.forEach(
                        row -> wake(Wakeups.nodeChannel(row.getUUID("id").toString()))))
                .chain(() -> compareFrom(calls, first + MAX_CALLS_PER_QUERY));
    }
}
