package io.quartermaster.platform.inbox;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.WithoutLeader;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The delivery of wake-ups while Redis is away. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class WakeupsIT {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Inject
    SystemDatabase database;

    @Inject
    Wakeups wakeups;

    @Test
    void notificationsOfTheDatabaseArriveAlsoAfterTheConnectionThatListensIsLost() {
        Queue<String> heard = new ConcurrentLinkedQueue<>();
        wakeups.onNotification(heard::add);
        awaitOne(heard, "before");

        database.run(
                TIMEOUT,
                tx -> tx.run("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen qm_wakeups' "
                        + "and usename = current_user"));

        awaitOne(heard, "after");
    }

    /** Sends a wake-up until the listener receives it: one that is sent before the listener subscribes may be lost. */
    private void awaitOne(Queue<String> heard, String channel) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            database.run(TIMEOUT, tx -> tx.run("select pg_notify('qm_wakeups', $1)", channel));
            return heard.contains(channel);
        });
    }
}
