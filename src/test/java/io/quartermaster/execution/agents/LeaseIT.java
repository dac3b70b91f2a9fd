package io.quartermaster.execution.agents;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hamcrest.Matchers.containsString;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.access.Credential;
import io.quartermaster.access.NodeSessionIssuer;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptReport;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.testing.WithoutLeader;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The answers to an agent, and the effect of its reports, around the end of its node's lease. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class LeaseIT {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    @Inject
    SystemDatabase database;

    @Inject
    AgentService service;

    @Inject
    NodeSessionIssuer sessions;

    private long sequence;
    private long applied;
    private Duration wait = Duration.ZERO;
    /** Sent in place of the inventory. */
    private @Nullable String digest;

    private int processors = 1;
    private UUID state = new UUID(2, 1);
    private UUID instance = new UUID(1, 1);
    private String boot = "boot";
    private Inventory.Isolation isolation = Inventory.Isolation.CONTAINER;

    /** Leaders of other tests read all rows. */
    @AfterEach
    void leaveNothingLive() {
        run("""
                update attempt set state = 'ended', outcome = 'cancelled', ended_at = clock_timestamp()
                 where tenant_id like 'lease-%' and state <> 'ended'
                """);
        run("update allocation_device set freed_at = clock_timestamp() where tenant_id like 'lease-%' and "
                + "freed_at is null");
        run("update workload set state = 'cancelled' where tenant_id like 'lease-%'");
    }

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
    void theLastWordOnASilentNodeIsTheLeaders() {
        Bound bound = bind("lease-silent");
        run("""
                insert into report (tenant_id, attempt_id, node_id, state, outcome, reported_at)
                values ($1, $2, $3, 'ended', 'lost', clock_timestamp())
                """, bound.tenant(), bound.attempt(), bound.node());

        sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(1), null, null, null));
        sync(
                bound,
                new AttemptReport(
                        bound.attempt(),
                        new AttemptState.Ended(AttemptState.Outcome.SUCCEEDED, 0, 1L, 2, ""),
                        null,
                        null,
                        null));

        assertThat(run("select state, outcome from report where attempt_id = $1", bound.attempt()))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getString("state")).isEqualTo("ended");
                    assertThat(row.getString("outcome")).isEqualTo("lost");
                });
        assertThat(run("select 1 from inbox where tenant_id = $1 and kind = 'report'", bound.tenant()))
                .isEmpty();
    }

    @Test
    void theEndOfWorkIsCountedBackFromItsReportAndToldAgainChangesNothing() {
        Bound bound = bind("lease-end-told", Duration.ofMinutes(10));

        sync(bound, ended(bound, 100_700L));
        long first = workEndedAgoMillis(bound);
        sync(bound, ended(bound, 5L));

        assertThat(first).isBetween(100_700L, 110_000L);
        assertThat(workEndedAgoMillis(bound)).isGreaterThanOrEqualTo(first);
    }

    @Test
    void whyAnAttemptEndedIsStoredCut() {
        Bound bound = bind("lease-end-words");

        sync(
                bound,
                new AttemptReport(
                        bound.attempt(),
                        new AttemptState.Ended(
                                AttemptState.Outcome.FAILED,
                                1,
                                1L,
                                Protocol.MAX_EPOCH_MILLIS,
                                "\0\ud800" + "x".repeat(6_000_000)),
                        null,
                        null,
                        null));

        assertThat(run(
                        "select state, octet_length(message) as bytes, message from report where attempt_id = $1",
                        bound.attempt()))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getString("state")).isEqualTo("ended");
                    assertThat(row.getInteger("bytes")).isBetween(4_000, Protocol.MAX_DETAIL_BYTES + 8);
                    assertThat(row.getString("message")).endsWith("x ... (cut)");
                });
    }

    @Test
    void workEndsNeitherBeforeItsAttemptNorBeforeTheLastContact() {
        Bound bound = bind("lease-liar", Duration.ofMinutes(10));
        sync(bound, ended(bound, Protocol.MAX_AGE_MILLIS));
        assertThat(run(
                        "select work_ended_at = bound_at as clipped from report r join attempt a on a.id = r.attempt_id"
                                + " where a.id = $1",
                        bound.attempt()))
                .singleElement()
                .satisfies(row -> assertThat(row.getBoolean("clipped")).isTrue());

        Bound heard = bind("lease-heard", Duration.ofMinutes(10));
        sync(heard, new AttemptReport(heard.attempt(), new AttemptState.Running(1), null, null, null));
        Row contact = contact(heard);
        sync(heard, ended(heard, 60_000L));
        assertThat(run("select work_ended_at from report where attempt_id = $1", heard.attempt()))
                .singleElement()
                .satisfies(row -> assertThat(row.getOffsetDateTime("work_ended_at"))
                        .isBetween(
                                contact.getOffsetDateTime("last_heard"),
                                contact.getOffsetDateTime("last_heard").plusSeconds(10)));
    }

    @Test
    void anAgentThatDoesNotTellWhenItsWorkEndedIsTakenAtItsWord() {
        Bound bound = bind("lease-untold");

        sync(bound, ended(bound, null));

        assertThat(run("select work_ended_at from report where attempt_id = $1", bound.attempt()))
                .singleElement()
                .satisfies(row ->
                        assertThat(row.getOffsetDateTime("work_ended_at")).isNull());
    }

    @Test
    void anAgeThatCannotBeIsRefused() {
        Bound bound = bind("lease-absurd");
        String token = opened(bound);
        for (String age : List.of("-1", "316224000001", "9223372036854775807", "\"soon\"")) {
            given().header("Authorization", "Bearer " + token)
                    .contentType("application/json")
                    .body("""
                            {"formatVersion": 1, "agentVersion": "1", "bootId": "boot", "instanceId": "00000000-0000-0001-0000-000000000001",
                             "sequence": 1, "appliedRevision": 0, "waitMillis": 0,
                             "inventory": {"devices": [], "cpuMilli": 1000, "memoryMiB": 1024, "isolation": "container",
                                           "trustsTenants": false, "simulated": true},
                             "attempts": [{"attemptId": "%s", "endedAgoMillis": %s,
                                           "state": {"state": "ended", "outcome": "succeeded", "endedAtEpochMillis": 2, "detail": ""}}]}
                            """.formatted(bound.attempt(), age))
                    .post("/v1/nodes/" + bound.nodeName() + "/sync")
                    .then()
                    .statusCode(400)
                    .body(containsString("endedAgoMillis"));
        }
        assertThat(run("select 1 from report where attempt_id = $1", bound.attempt()))
                .isEmpty();
    }

    private static AttemptReport ended(Bound bound, @Nullable Long agoMillis) {
        return new AttemptReport(
                bound.attempt(),
                new AttemptState.Ended(AttemptState.Outcome.SUCCEEDED, 0, 1L, 2, ""),
                null,
                null,
                agoMillis);
    }

    private long workEndedAgoMillis(Bound bound) {
        return run(
                        "select (extract(epoch from clock_timestamp() - work_ended_at) * 1000)::bigint as ago "
                                + "from report where attempt_id = $1",
                        bound.attempt())
                .getFirst()
                .getLong("ago");
    }

    @Test
    void whatTheAgentSeesOfTheMachineIsKeptAndNewsOfItReachTheLeader() {
        Bound bound = bind("lease-machine");
        sync(bound);
        run("delete from inbox where kind = 'node' and ref = $1", bound.node().toString());

        sync(bound);
        assertThat(nodeNews(bound)).isEmpty();

        processors = 2;
        sync(bound);
        assertThat(nodeNews(bound)).isNotEmpty();
        assertThat(run("select cpu_milli, memory_mib from node_contact where node_id = $1", bound.node()))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getLong("cpu_milli")).isEqualTo(2_000);
                    assertThat(row.getLong("memory_mib")).isEqualTo(1_024);
                });
    }

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

    @Test
    void aDigestStandsForTheStoredInventory() {
        Bound bound = bind("lease-digest");
        String known = sync(bound).inventoryDigest();
        run("delete from inbox where kind = 'node' and ref = $1", bound.node().toString());
        Row before = contact(bound);

        digest = known;
        SyncReply reply = sync(bound);

        assertThat(reply.inventoryDigest()).isEqualTo(known).isNotNull();
        assertThat(reply.attempts()).hasSize(1);
        assertThat(contact(bound).getOffsetDateTime("lease_until")).isAfter(before.getOffsetDateTime("lease_until"));
        assertThat(contact(bound).getOffsetDateTime("last_heard")).isAfter(before.getOffsetDateTime("last_heard"));
        assertThat(nodeNews(bound)).isEmpty();
        assertThat(run("select 1 from gpu where node_id = $1 and healthy", bound.node()))
                .hasSize(1);
    }

    @Test
    void anotherInventoryHasAnotherDigest() {
        Bound bound = bind("lease-digests");
        String first = sync(bound).inventoryDigest();
        assertThat(sync(bound).inventoryDigest()).isEqualTo(first);

        processors = 2;

        assertThat(sync(bound).inventoryDigest()).isNotEqualTo(first);
    }

    @Test
    void aDigestOfNoStoredInventoryIsRefusedAndRenewsNothing() {
        Bound fresh = bind("lease-digest-new");
        digest = "unknown";
        assertRefused(fresh, Protocol.INVENTORY_UNKNOWN);
        assertThat(run("select 1 from node_contact where node_id = $1", fresh.node()))
                .isEmpty();

        digest = null;
        Bound known = bind("lease-digest-old");
        sync(known);
        Row before = contact(known);
        digest = "unknown";
        assertRefused(known, Protocol.INVENTORY_UNKNOWN);
        assertThat(contact(known).getOffsetDateTime("lease_until")).isEqualTo(before.getOffsetDateTime("lease_until"));
    }

    @Test
    void aDigestHelpsNeitherALapsedLeaseNorAnotherAgentNorALateRequest() {
        Bound bound = bind("lease-digest-lapsed");
        digest = sync(bound).inventoryDigest();

        state = new UUID(2, 2);
        instance = new UUID(1, 2);
        assertRefused(bound, "another-agent");
        state = new UUID(2, 1);
        instance = new UUID(1, 1);
        sync(bound);
        Row before = contact(bound);
        sequence--;
        assertThat(sync(bound).inventoryDigest())
                .as("of a request that changed nothing")
                .isNull();
        assertThat(contact(bound).getOffsetDateTime("last_heard")).isEqualTo(before.getOffsetDateTime("last_heard"));

        run(
                "update node_contact set lease_until = clock_timestamp() - interval '1 second' where node_id = $1",
                bound.node());
        assertRefused(bound, "lease-lapsed");
    }

    @Test
    void aLostNodeThatSendsItsDigestIsHeardAgain() {
        Bound bound = bind("lease-digest-lost");
        digest = sync(bound).inventoryDigest();
        run("delete from inbox where kind = 'node' and ref = $1", bound.node().toString());
        lose(bound);

        assertThat(sync(bound).leaseMillis()).isPositive();
        assertThat(nodeNews(bound)).isNotEmpty();
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

    @Test
    void aRepeatedReportWritesNothing() {
        Bound bound = bind("lease-repeated");
        sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(5), null, null, null));
        String first = reportVersion(bound);

        digest = sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(5), null, null, null))
                .inventoryDigest();
        sync(bound, new AttemptReport(bound.attempt(), new AttemptState.Running(5), null, null, null));
        assertThat(reportVersion(bound)).isEqualTo(first);

        sync(
                bound,
                new AttemptReport(
                        bound.attempt(),
                        new AttemptState.Running(5),
                        null,
                        new AttemptReport.LogTail("more", 4),
                        null));
        assertThat(reportVersion(bound)).isNotEqualTo(first);
    }

    private String reportVersion(Bound bound) {
        return run("select xmin::text || ctid::text as version from report where attempt_id = $1", bound.attempt())
                .getFirst()
                .getString("version");
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

    /** Gives the node up, as the leader does when its lease has expired. */
    private void lose(Bound bound) {
        run(
                "update node_contact set lost_at = clock_timestamp(), lease_until = clock_timestamp() - interval "
                        + "'1 second' where node_id = $1",
                bound.node());
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

    @Test
    void aNewNodeThatDoesNotKeepTenantsApartIsRefusedInAPoolOfSeveral() {
        Bound bound = bind("lease-shared");
        isolation = Inventory.Isolation.OS_USER;
        share(bound);

        assertRefused(bound, "not-isolated");
        assertThat(run("select 1 from node_contact where node_id = $1", bound.node()))
                .isEmpty();

        run(
                "update pool set tenants_trust_each_other = true where id = (select pool_id from node where id = $1)",
                bound.node());
        assertThat(sync(bound).attempts()).hasSize(1);
    }

    @Test
    void aNodeThatIsKnownKeepsWhatRunsWhenItsPoolIsShared() {
        Bound bound = bind("lease-known");
        isolation = Inventory.Isolation.OS_USER;
        sync(bound);

        share(bound);

        assertThat(sync(bound).attempts()).hasSize(1);
    }

    /** Gives two tenants allotments in the node's pool. */
    private void share(Bound bound) {
        String other = bound.tenant() + "-b";
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'active')",
                other);
        run(
                "insert into allotment (tenant_id, pool_id) select t, pool_id from node, unnest($2::text[]) as t "
                        + "where node.id = $1",
                bound.node(),
                new String[] {bound.tenant(), other});
    }

    private void assertRefused(Bound bound, String code) {
        assertThatThrownBy(() -> sync(bound)).isInstanceOfSatisfying(ProblemException.class, e -> assertThat(
                        e.problem().code())
                .isEqualTo(code));
    }

    @Test
    void aNodesSessionNeedsNoKeycloakAndOpensTheNextOne() {
        Bound bound = bind("lease-session");
        String token = opened(bound);

        assertThat(statusOfSync(bound, token)).isEqualTo(400);
        String next = given().header("Authorization", "Bearer " + token)
                .post("/v1/nodes/" + bound.nodeName() + "/sessions")
                .then()
                .statusCode(201)
                .header("Cache-Control", "no-store")
                .extract()
                .path("token");
        assertThat(statusOfSync(bound, next)).isEqualTo(400);
        assertThat(run("select 1 from node_session where node_id = $1", bound.node()))
                .hasSize(2);
    }

    @Test
    void aNodesSessionOpensNothingElse() {
        Bound bound = bind("lease-own");
        Bound other = bind("lease-other");
        String token = opened(bound);

        assertThat(statusOfSync(other, token)).isEqualTo(404);
        given().header("Authorization", "Bearer " + token)
                .get("/v1/operator/nodes")
                .then()
                .statusCode(403);
        given().header("Authorization", "Bearer " + token)
                .get("/v1/tenants/" + bound.tenant() + "/workloads")
                .then()
                .statusCode(404);
    }

    @Test
    void sessionsEndWithTheirTimeAndWithTheirNode() {
        Bound bound = bind("lease-ended");
        String token = opened(bound);
        assertThat(statusOfSync(bound, token + "x")).isEqualTo(401);

        run("update node_session set expires_at = clock_timestamp() where node_id = $1", bound.node());
        assertThat(statusOfSync(bound, token)).isEqualTo(401);

        String another = opened(bound);
        run("update node set retired_at = clock_timestamp() where id = $1", bound.node());
        assertThat(statusOfSync(bound, another)).isEqualTo(401);
    }

    @Test
    void anAccessTokenFromBeforeTheCredentialOpensNoSession() {
        Bound bound = bind("lease-rotated");

        assertThatThrownBy(() -> open(bound, Instant.now().minusSeconds(60)))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        e -> assertThat(e.problem().code()).isEqualTo("credential-is-newer"));
    }

    private String opened(Bound bound) {
        return open(bound, Instant.now().plusSeconds(60)).token();
    }

    private NodeSessionIssuer.Opened open(Bound bound, Instant issuedAt) {
        return sessions.open(bound.nodeName(), new Credential.KeycloakToken(issuedAt))
                .await()
                .atMost(TIMEOUT);
    }

    /** The status of an empty report: 400 for an agent of the node. */
    private static int statusOfSync(Bound bound, String token) {
        return given().header("Authorization", "Bearer " + token)
                .contentType("application/json")
                .body("{}")
                .post("/v1/nodes/" + bound.nodeName() + "/sync")
                .statusCode();
    }

    private List<Row> nodeNews(Bound bound) {
        return run(
                "select 1 from inbox where kind = 'node' and ref = $1",
                bound.node().toString());
    }

    private record Bound(String tenant, UUID node, String nodeName, UUID attempt) {}

    /** A node with one attempt bound to it, as the leader would write it. */
    private Bound bind(String name) {
        return bind(name, Duration.ZERO);
    }

    /** @param ago how long ago it was bound */
    private Bound bind(String name, Duration ago) {
        UUID pool = Ids.next();
        UUID cluster = Ids.next();
        UUID node = Ids.next();
        UUID policy = Ids.next();
        UUID profile = Ids.next();
        UUID queue = Ids.next();
        UUID workload = Ids.next();
        UUID attempt = Ids.next();
        run(
                "insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, $1, 'standard', "
                        + "$1, 'test:' || $1, 'active')",
                name);
        run("insert into pool (id, name) values ($1, $2)", pool, name);
        run("insert into cluster (id, name, kind, region) values ($1, $2, 'agent', 'here')", cluster, name);
        run("insert into node (id, name, cluster_id, pool_id) values ($1, $2, $3, $4)", node, name, cluster, pool);
        run("insert into policy (tenant_id, id, name, group_path) values ($1, $2, 'all', '/all')", name, policy);
        run(
                "insert into profile (tenant_id, id, name, gpu_milli, pool_ids) values ($1, $2, 'one', 1000, $3)",
                name,
                profile,
                new UUID[] {pool});
        run(
                "insert into queue (tenant_id, id, name, policy_id, profile_id) values ($1, $2, 'all-one', $3, $4)",
                name,
                queue,
                policy,
                profile);
        run("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command, state, attempts)
                values ($1, $2, 'w', 'training', $3, $4, $5, 'somebody', 50, true, '["true"]', 'starting', 1)
                """, name, workload, queue, policy, profile);
        run("""
                insert into attempt (tenant_id, id, workload_id, number, state, pool_id, gpu_milli, rule, bound_at)
                values ($1, $2, $3, 1, 'bound', $4, 1000, 'open',
                    clock_timestamp() - $5::bigint * interval '1 millisecond')
                """, name, attempt, workload, pool, ago.toMillis());
        run(
                "insert into allocation_device (tenant_id, attempt_id, worker, node_id, device_index, gpu_milli) "
                        + "values ($1, $2, 0, $3, 0, 1000)",
                name,
                attempt,
                node);
        return new Bound(name, node, name, attempt);
    }

    private SyncReply sync(Bound bound, AttemptReport... attempts) {
        return call(bound, attempts).await().atMost(TIMEOUT);
    }

    private Uni<SyncReply> call(Bound bound, AttemptReport... attempts) {
        Inventory inventory = new Inventory(
                List.of(new Inventory.Device(0, bound.nodeName() + "-gpu", "H100", 81920, true, false)),
                processors * 1_000,
                1024,
                isolation,
                false,
                true,
                null);
        SyncRequest request = new SyncRequest(
                Protocol.FORMAT_VERSION,
                "1",
                boot,
                instance,
                state,
                ++sequence,
                applied,
                wait.toMillis(),
                digest == null ? inventory : null,
                digest,
                List.of(attempts));
        return service.sync(bound.nodeName(), request);
    }

    private Row contact(Bound bound) {
        return run("select lease_until, last_heard from node_contact where node_id = $1", bound.node())
                .getFirst();
    }

    private List<Row> run(String sql, Object... parameters) {
        return database.run(TIMEOUT, tx -> {
            List<Row> rows = new ArrayList<>();
            tx.run(sql, parameters).forEach(rows::add);
            return rows;
        });
    }
}
