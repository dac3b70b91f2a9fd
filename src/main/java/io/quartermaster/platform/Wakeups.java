package io.quartermaster.platform;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.quarkus.redis.datasource.pubsub.ReactivePubSubCommands;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.logging.Logger;

/**
 * Wakes who waits: the leader for its inbox, long polls of agents, live views. Redis carries it, PostgreSQL's NOTIFY when Redis is
 * away. A wake-up is a hint: whoever waits also polls slowly, so a lost one costs time, never truth.
 */
@ApplicationScoped
public class Wakeups {

    /** Channel of the leader; payload is empty. Redis and PostgreSQL use the same names. */
    public static final String LEADER = "qm:{main}:wake";

    private static final Logger LOG = Logger.getLogger(Wakeups.class);
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private final SystemDatabase database;
    private final ReactivePubSubCommands<String> redis;
    /** Wake-ups of the leader that were asked for since the last one was sent, plus one while it is on its way. */
    private final AtomicInteger leaderCalls = new AtomicInteger();

    Wakeups(ReactiveRedisDataSource redis, SystemDatabase database) {
        this.redis = redis.pubsub(String.class);
        this.database = database;
    }

    /** Channel on which the agent of a node is told to sync. */
    public static String node(String nodeId) {
        return "qm:{main}:node:" + nodeId;
    }

    /** Channel on which a tenant's live views are told that its feed grew. */
    public static String feed(TenantId tenant) {
        return "qm:{" + tenant + "}:feed";
    }

    /** Sent by itself: the caller need not wait. While one is on its way, more are asked for as one more. */
    public void leader() {
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

    /** Never fails: the poll behind it finds what a lost wake-up would have told. */
    public Uni<Void> publish(String channel) {
        return redis.publish(channel, "")
                .ifNoItem()
                .after(PATIENCE)
                .fail()
                .onFailure()
                .recoverWithUni(e -> notifyByDatabase(channel));
    }

    private Uni<Void> notifyByDatabase(String channel) {
        return database.on((SqlConnection connection) -> connection
                        .preparedQuery("select pg_notify($1, '')")
                        .execute(Tuple.of(channel))
                        .replaceWithVoid())
                .onFailure()
                .invoke(e -> LOG.debugf("wake-up on %s was lost: %s", channel, e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }
}
