package io.quartermaster.platform;

import io.quarkus.redis.datasource.ReactiveRedisDataSource;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
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

    private final ReactiveRedisDataSource redis;
    private final SystemDatabase database;

    Wakeups(ReactiveRedisDataSource redis, SystemDatabase database) {
        this.redis = redis;
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

    public Uni<Void> leader() {
        return publish(LEADER);
    }

    /** Never fails: the poll behind it finds what a lost wake-up would have told. */
    public Uni<Void> publish(String channel) {
        return redis.pubsub(String.class)
                .publish(channel, "")
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
