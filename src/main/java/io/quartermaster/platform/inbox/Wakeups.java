package io.quartermaster.platform.inbox;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.redis.datasource.pubsub.ReactivePubSubCommands;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.Cancellable;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Sends wake-ups to the leader (for its inbox), to the long polls of agents and to live views. Redis carries them, or
 * PostgreSQL's NOTIFY when Redis is away. A wake-up is a hint: every receiver also polls slowly, so a lost one costs
 * time, never correctness.
 */
@ApplicationScoped
public class Wakeups {

    /** The prefix of the cell's keys and channels. No tenant's key begins with it, because no tenant id has a colon. */
    public static final String CELL_KEYS = "qm:{cell:main}:";

    /** Channel of the leader; its payload is empty. PostgreSQL has one channel, whose payload is this name. */
    public static final String LEADER = CELL_KEYS + "wake";

    private static final String DATABASE_CHANNEL = "qm_wakeups";
    private static final Duration FIRST_RECONNECT_DELAY = Duration.ofMillis(200);
    private static final Duration MAX_RECONNECT_DELAY = Duration.ofSeconds(5);

    private static final Logger LOG = Logger.getLogger(Wakeups.class);
    private static final Duration PUBLISH_TIMEOUT = Duration.ofMillis(200);

    private final SystemDatabase database;
    private final ReactivePubSubCommands<String> redis;
    /** Wake-ups of the leader that were requested since the last one was sent, plus one while it is in transit. */
    private final AtomicInteger leaderCalls = new AtomicInteger();

    private final List<Consumer<String>> listeners = new CopyOnWriteArrayList<>();
    private volatile @Nullable Cancellable listening;

    Wakeups(ReactiveRedisDataSource redis, SystemDatabase database) {
        this.redis = redis.pubsub(String.class);
        this.database = database;
    }

    void start(@Observes StartupEvent event) {
        listening = database.listen(
                        DATABASE_CHANNEL, channel -> listeners.forEach(listener -> listener.accept(channel)))
                .onFailure()
                .invoke(e -> LOG.debugf("PostgreSQL delivers no wake-ups: %s", e.getMessage()))
                .onFailure()
                .retry()
                .withBackOff(FIRST_RECONNECT_DELAY, MAX_RECONNECT_DELAY)
                .indefinitely()
                .subscribe()
                .with(done -> {}, failure -> LOG.warn("no wake-ups by PostgreSQL", failure));
    }

    void stop(@Observes ShutdownEvent event) {
        Cancellable open = listening;
        if (open != null) {
            open.cancel();
        }
    }

    /**
     * Registers a listener, which receives the channel of each wake-up that comes by PostgreSQL; it subscribes itself
     * to those by Redis. It must not block.
     */
    public void onNotification(Consumer<String> listener) {
        listeners.add(listener);
    }

    /** Channel of the requests to a node's agent to sync. */
    public static String nodeChannel(String nodeId) {
        return CELL_KEYS + "node:" + nodeId;
    }

    /** Channel of the notices to a tenant's live views that its feed grew. */
    public static String feedChannel(TenantId tenant) {
        return "qm:{" + tenant + "}:feed";
    }

    /**
     * Wakes the leader; the caller need not wait. While one wake-up is in transit, all further ones are combined into
     * one.
     */
    public void requestLeaderWakeup() {
        if (leaderCalls.getAndIncrement() == 0) {
            wakeLeader();
        }
    }

    private void wakeLeader() {
        publish(LEADER).subscribe().with(done -> {
            if (!leaderCalls.compareAndSet(1, 0)) {
                leaderCalls.set(1);
                wakeLeader();
            }
        });
    }

    /** Never fails: the receiver's poll finds what a lost wake-up would have announced. */
    public Uni<Void> publish(String channel) {
        return redis.publish(channel, "")
                .ifNoItem()
                .after(PUBLISH_TIMEOUT)
                .fail()
                .onFailure()
                .recoverWithUni(e -> notifyByDatabase(channel));
    }

    private Uni<Void> notifyByDatabase(String channel) {
        return database.on((SqlConnection connection) -> connection
                        .preparedQuery("select pg_notify($1, $2)")
                        .execute(Tuple.of(DATABASE_CHANNEL, channel))
                        .replaceWithVoid())
                .onFailure()
                .invoke(e -> LOG.debugf("wake-up on %s was lost: %s", channel, e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }
}
