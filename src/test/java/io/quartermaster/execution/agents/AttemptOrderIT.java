package io.quartermaster.execution.agents;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.testing.WithoutLeader;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The orders that an agent gets, and when a held call is answered with them. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class AttemptOrderIT extends AgentCalls {

    @Test
    void theReasonToStopReachesTheAgentInItsOwnWord() {
        Bound bound = bind("lease-incomplete");
        run(
                "update attempt set state = 'stopping', stop_reason = 'incomplete', deadline_at = "
                        + "clock_timestamp() where id = $1",
                bound.attempt());

        assertThat(sync(bound).attempts())
                .extracting(order -> ((AttemptOrder.Desired.Stop) order.desired()).reason())
                .containsExactly(StopReason.INCOMPLETE);
    }

    @Test
    void whatWasToHaveStoppedByNowIsKilledAndNoOtherLateStop() {
        Bound bound = bind("lease-late-stop");
        run(
                "update attempt set state = 'stopping', stop_reason = 'cancelled', deadline_at = "
                        + "clock_timestamp() where id = $1",
                bound.attempt());
        assertThat(graceLeft(bound)).as("heard late").isZero();

        stopBy(bound, Duration.ofMinutes(9));
        assertThat(graceLeft(bound)).as("there is time left").isZero();

        stopBy(bound, Duration.ZERO);
        assertThat(graceLeft(bound)).isEqualTo(AttemptOrder.Desired.Stop.AT_ONCE_MILLIS);
    }

    @Test
    void whatIsCancelledInAHurryDoesNotPause() {
        Bound bound = bind("lease-hurried-pause");
        sync(bound);
        run("update node_contact set pausing = 'signals' where node_id = $1", bound.node());
        run(
                "update attempt set state = 'stopping', stop_reason = 'paused', deadline_at = clock_timestamp() + "
                        + "interval '20 seconds' where id = $1",
                bound.attempt());

        stopBy(bound, Duration.ofSeconds(20));

        assertThat(sync(bound).attempts()).singleElement().satisfies(order -> assertThat(order.desired())
                .isInstanceOfSatisfying(AttemptOrder.Desired.Stop.class, stop -> assertThat(stop.reason())
                        .isEqualTo(StopReason.CANCELLED)));
    }

    private void stopBy(Bound bound, Duration fromNow) {
        run(
                "update workload set wish = 'cancel', stop_by = clock_timestamp() + $2::bigint * interval '1 "
                        + "millisecond'"
                        + " where id = (select workload_id from attempt where id = $1)",
                bound.attempt(),
                fromNow.toMillis());
    }

    private long graceLeft(Bound bound) {
        return sync(bound).attempts().stream()
                .map(order -> ((AttemptOrder.Desired.Stop) order.desired()).graceMillis())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aHeldCallIsAnsweredWhenTheDesiredStateChanges() {
        Bound bound = bind("lease-held");
        SyncReply now = sync(bound);
        digest = now.inventoryDigest();
        applied = now.revision();
        wait = TIMEOUT;

        CompletableFuture<SyncReply> held = call(bound).subscribeAsCompletionStage();
        assertThat(held.copy()
                        .completeOnTimeout(now, 1_500, TimeUnit.MILLISECONDS)
                        .join())
                .as("held without news")
                .isSameAs(now);
        run("update node set revision = revision + 1 where id = $1", bound.node());

        assertThat(held.orTimeout(TIMEOUT.toSeconds() / 2, TimeUnit.SECONDS)
                        .join()
                        .revision())
                .isEqualTo(now.revision() + 1);
    }

    @Test
    void aHeldCallIsAnsweredWhenItsTimeIsOver() {
        Bound bound = bind("lease-over");
        SyncReply now = sync(bound);
        digest = now.inventoryDigest();
        applied = now.revision();
        wait = Duration.ofMillis(300);

        long begun = System.nanoTime();
        SyncReply answer = sync(bound);

        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThanOrEqualTo(wait);
        assertThat(answer.attempts()).hasSize(1);
    }
}
