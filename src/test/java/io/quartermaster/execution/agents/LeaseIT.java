package io.quartermaster.execution.agents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.testing.WithoutLeader;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The lease of a node: which agent has it, when it ends, and what waits for it. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class LeaseIT extends AgentCalls {

    @Test
    void aLapsedLeaseGetsNoOrdersUntilTheLeaderGaveTheNodeUp() {
        Bound bound = bind("lease-lapsed");
        assertThat(sync(bound).attempts()).hasSize(1);

        run(
                "update node_contact set lease_until = clock_timestamp() - interval '1 second' where node_id = $1",
                bound.node());
        Row before = contact(bound);
        assertThatThrownBy(() -> sync(bound)).isInstanceOfSatisfying(ProblemException.class, e -> assertThat(
                        e.problem().code())
                .isEqualTo("lease-lapsed"));
        assertThat(contact(bound).getOffsetDateTime("lease_until")).isEqualTo(before.getOffsetDateTime("lease_until"));
        assertThat(contact(bound).getOffsetDateTime("last_heard")).isEqualTo(before.getOffsetDateTime("last_heard"));

        run("update node_contact set lost_at = clock_timestamp() where node_id = $1", bound.node());
        run(
                "update attempt set state = 'ended', outcome = 'lost', ended_at = clock_timestamp() where id = $1",
                bound.attempt());
        run("update allocation_device set freed_at = clock_timestamp() where attempt_id = $1", bound.attempt());
        assertThat(sync(bound).attempts()).isEmpty();
        assertThat(run(
                        "select 1 from inbox where kind = 'node' and ref = $1",
                        bound.node().toString()))
                .isNotEmpty();
    }

    @Test
    void aSecondAgentWithTheCredentialIsRefusedWhileTheLeaseOfTheFirstHolds() {
        Bound bound = bind("lease-twins");
        assertThat(sync(bound).attempts()).hasSize(1);
        Row before = contact(bound);

        state = new UUID(2, 2);
        instance = new UUID(1, 2);
        assertRefused(bound, "another-agent");

        Row after = run("select * from node_contact where node_id = $1", bound.node())
                .getFirst();
        assertThat(after.getOffsetDateTime("lease_until")).isEqualTo(before.getOffsetDateTime("lease_until"));
        assertThat(after.getString("instance_id")).isEqualTo(new UUID(1, 1).toString());
        assertThat(after.getOffsetDateTime("other_agent_seen_at")).isNotNull();

        lose(bound);
        assertThat(sync(bound).leaseMillis()).isPositive();
    }

    /** The leader takes a node back some time after its next contact. */
    @Test
    void theLeaseOfALostNodeGoesToOneAgentAlone() {
        Bound bound = bind("lease-lost");
        sync(bound);
        lose(bound);

        assertThat(sync(bound).leaseMillis()).isPositive();
        state = new UUID(2, 2);
        instance = new UUID(1, 2);
        assertRefused(bound, "another-agent");
        assertThat(run("select other_agent_seen_at from node_contact where node_id = $1", bound.node()))
                .singleElement()
                .satisfies(row ->
                        assertThat(row.getOffsetDateTime("other_agent_seen_at")).isNotNull());

        state = new UUID(2, 1);
        instance = new UUID(1, 1);
        assertThat(sync(bound).leaseMillis()).isPositive();
    }

    @Test
    void ofTwoAgentsThatAskForALostNodeAtOnceOneIsRefused() {
        Bound bound = bind("lease-race");
        sync(bound);
        for (int round = 1; round <= 10; round++) {
            lose(bound);
            List<CompletableFuture<SyncReply>> calls = new ArrayList<>();
            for (int agent = 1; agent <= 2; agent++) {
                state = new UUID(2, agent);
                instance = new UUID(round, agent);
                calls.add(call(bound).subscribeAsCompletionStage());
            }
            List<Throwable> refusals = new ArrayList<>();
            calls.forEach(call -> call.handle((reply, failure) -> failure == null || refusals.add(failure))
                    .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                    .join());
            assertThat(refusals).singleElement().isInstanceOfSatisfying(ProblemException.class, e -> assertThat(
                            e.problem().code())
                    .isEqualTo("another-agent"));
        }
    }

    /**
     * A later step of the leader ends the attempt, as when another transaction has locked the workload, or another of
     * its nodes must stop.
     */
    @Test
    void whatWasGivenUpOnALostNodeIsNotOrderedThereAgain() {
        Bound bound = bind("lease-given-up");
        assertThat(sync(bound).attempts()).hasSize(1);
        lose(bound);
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, reported_at, silent_since)
                values ($1, $2, $3, 'ended', 'lost', clock_timestamp(), clock_timestamp())
                """, bound.tenant(), bound.attempt(), bound.node());

        state = new UUID(2, 2);
        instance = new UUID(1, 2);
        assertThat(sync(bound).attempts()).isEmpty();
    }

    @Test
    void aNodeWhoseRowIsLockedHoldsUpNoOtherNodeAndNotForLong() {
        Bound locked = bind("lease-locked");
        Bound other = bind("lease-free");
        sync(locked);
        database.run(TIMEOUT, tx -> {
            tx.run("select 1 from node_contact where node_id = $1 for update", locked.node());
            List<CompletableFuture<SyncReply>> waiting = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                waiting.add(call(locked).subscribeAsCompletionStage());
            }
            assertThat(sync(other).leaseMillis()).isPositive();
            assertThat(waiting).allSatisfy(call -> assertThat(
                            call.handle((reply, failure) -> failure != null && DatabaseFailures.isLockTimeout(failure))
                                    .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                                    .join())
                    .isTrue());
            return true;
        });
        assertThat(sync(locked).leaseMillis()).isPositive();
    }

    /** Of the calls that come together, most are written together. */
    @Test
    void manyNodesThatRenewAtOnceAllHaveTheirLeasesAndTheirReports() {
        List<Bound> nodes = new ArrayList<>();
        List<String> digests = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Bound bound = bind("lease-many-" + i);
            nodes.add(bound);
            digests.add(sync(bound).inventoryDigest());
        }
        Bound locked = nodes.getFirst();
        Bound lost = nodes.getLast();
        lose(lost);
        database.run(TIMEOUT, tx -> {
            tx.run("select 1 from node_contact where node_id = $1 for update", locked.node());
            List<CompletableFuture<SyncReply>> calls = new ArrayList<>();
            for (int i = 0; i < nodes.size(); i++) {
                digest = digests.get(i);
                calls.add(call(
                                nodes.get(i),
                                new AttemptReport(
                                        nodes.get(i).attempt(), new AttemptState.Running(5), null, null, null))
                        .subscribeAsCompletionStage());
            }
            for (int i = 1; i < nodes.size(); i++) {
                SyncReply reply = calls.get(i)
                        .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                        .join();
                assertThat(reply.leaseMillis()).isPositive();
                assertThat(reply.inventoryDigest()).isEqualTo(digests.get(i));
            }
            assertThat(calls.getFirst()
                            .handle((reply, failure) -> failure != null && DatabaseFailures.isLockTimeout(failure))
                            .orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                            .join())
                    .isTrue();
            return true;
        });
        for (Bound bound : nodes.subList(1, nodes.size())) {
            assertThat(run("select state from report where attempt_id = $1", bound.attempt()))
                    .singleElement()
                    .satisfies(row -> assertThat(row.getString("state")).isEqualTo("running"));
            assertThat(run("select 1 from inbox where tenant_id = $1 and kind = 'report'", bound.tenant()))
                    .hasSize(1);
        }
        assertThat(run("select 1 from report where attempt_id = $1", locked.attempt()))
                .isEmpty();
        assertThat(nodeNews(lost)).isNotEmpty();
    }

    /** As with a replica that stops between two statements of an operator's request. */
    @Test
    void aTransactionThatStandsStillGivesItsLocksBackBeforeALeaderLosesItsLease() {
        Bound bound = bind("lease-still");
        CompletableFuture<Object> still = database.in(connection -> connection
                        .preparedQuery("select 1 from node where id = $1 for update")
                        .execute(Tuple.of(bound.node()))
                        .chain(() -> Uni.createFrom().nothing()))
                .subscribeAsCompletionStage();
        try {
            Awaitility.await().atMost(Duration.ofSeconds(9)).until(() -> run(
                            "select 1 from node where id = $1 for update skip locked", bound.node())
                    .isEmpty());
            Awaitility.await().atMost(Duration.ofSeconds(9)).until(() -> !run(
                            "select 1 from node where id = $1 for update skip locked", bound.node())
                    .isEmpty());
        } finally {
            still.cancel(true);
        }
    }

    @Test
    void aMachineThatWasStartedAgainWaitsForTheEndOfItsLease() {
        Bound bound = bind("lease-boot");
        sync(bound);

        boot = "next boot";
        instance = new UUID(1, 2);

        assertRefused(bound, "another-agent");
    }

    @Test
    void aRequestThatComesTwiceGetsNoOrdersAfterTheLeaseHasRunOut() {
        Bound bound = bind("lease-twice");
        sync(bound);
        run(
                "update node_contact set lease_until = clock_timestamp() - interval '1 second' where node_id = $1",
                bound.node());

        sequence--;
        assertRefused(bound, "lease-lapsed");
    }
}
