package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.common.http.TestHTTPResource;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.access.Credential;
import io.quartermaster.access.NodeSessionIssuer;
import io.quartermaster.agent.Agent;
import io.quartermaster.agent.AgentConfig;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.dispatch.commit.NodeLossHandler;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** Lost nodes, parts of an attempt that end before the rest, and workloads that are lost repeatedly. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class LossesIT extends LedByHand {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Inject
    NodeSessionIssuer sessions;

    @TestHTTPResource
    @SuppressWarnings("NullAway.Init")
    URI service;

    @TempDir(cleanup = CleanupMode.NEVER)
    @SuppressWarnings("NullAway.Init")
    Path folder;

    /** The leader is down for more than a second after the processes end; the agent and the service are not. */
    @Test
    void workOfARealAgentRunsUntilItsEndHoweverLateItsDevicesAreFreed() throws Exception {
        CellRows rows = new CellRows(database, "races-agent");
        UUID pool = rows.pool("races-agent");
        UUID node = rows.node(pool, "races-agent-1", 1, LONG);
        rows.run("delete from node_contact where node_id = $1", node);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));

        try (Agent agent = agent("races-agent-1")) {
            Awaitility.await().atMost(PATIENCE).until(() -> {
                cell.settle();
                return rows.state(job).equals("starting");
            });
            Awaitility.await().atMost(PATIENCE).until(() -> !rows.run(
                            "select 1 from report where tenant_id = $1 and state = 'ended' and work_ended_at < "
                                    + "clock_timestamp() - interval '1 second'",
                            rows.tenant)
                    .isEmpty());
            cell.settle();
        }

        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(rows.run("""
                        select u.at_ms - u.since_ms as late, u.since_ms - floor(extract(epoch
                            from r.work_ended_at) * 1000)::bigint as off,
                               u.since_ms - floor(extract(epoch from a.bound_at) * 1000)::bigint as worked
                          from usage_event u join report r on r.attempt_id = u.allocation_id
                              join attempt a on a.id = u.allocation_id
                         where u.tenant_id = $1 and u.phase = 'ended'
                        """, rows.tenant)).singleElement().satisfies(row -> {
            assertThat(row.getLong("late")).isGreaterThan(1_000);
            assertThat(row.getLong("off")).isZero();
            assertThat(row.getLong("worked")).isPositive();
        });
    }

    /** A real agent with a session of the service: it needs no Keycloak. */
    private Agent agent(String node) throws IOException {
        String token = sessions.open(
                        node, new Credential.KeycloakToken(Instant.now().plusSeconds(60)))
                .await()
                .atMost(PATIENCE)
                .token();
        // The state that an earlier agent left behind.
        Files.createFile(folder.resolve("agent.lock"));
        Path identity = Files.createDirectories(folder.resolve("identity"));
        Files.writeString(
                identity.resolve("session"),
                "token=" + token + "\nrenewAtEpochMillis="
                        + Instant.now().plus(LONG).toEpochMilli() + "\n");
        return Agent.start(new AgentConfig(
                service,
                node,
                new AgentConfig.Credentials(service.resolve("/none"), "none", "none"),
                folder,
                new AgentConfig.Devices.Simulated(1, "H100", 81_920, false),
                Inventory.Isolation.NONE,
                true,
                true,
                AgentConfig.PauseSettings.DEFAULT,
                AgentConfig.WorkSettings.DEFAULT,
                new AgentConfig.Pace(20, 2_000, 100, 50, 200, 60_000, 64 * 1024),
                line -> {}));
    }

    @Test
    void aGangWithALostNodeEndsWhenTheOthersHaveStoppedAndWaitsAgain() {
        CellRows rows = new CellRows(database, "races-gang");
        UUID pool = rows.pool("races-gang");
        UUID first = rows.node(pool, "races-gang-1", 1, LONG);
        UUID second = rows.node(pool, "races-gang-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID job = rows.job(pool, 2, rows.profile(1, 2, 2, pool));
        cell.settle();
        run(rows, job);
        assertThat(rows.state(job)).isEqualTo("running");

        rows.contact(second, OVER);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(rows.held()).isEqualTo(2);

        // The agent of the lost node is back before the rest has stopped: its reports on the attempt no longer count.
        rows.run(
                "update node_contact set lease_until = clock_timestamp() + interval '30 minutes' where node_id = $1",
                second);
        rows.inbox("node", second.toString());
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");

        rows.reportOn(first, job, "ended", "cancelled");
        cell.settle();
        assertThat(attempts(rows, job))
                .extracting(row -> row.getString("outcome"))
                .startsWith("lost");
        assertThat(rows.state(job)).isIn("waiting", "starting");
        assertThat(rows.run(
                        "select phase from usage_event where tenant_id = $1 and kind = 'phase' order by seq",
                        rows.tenant))
                .extracting(row -> row.getString("phase"))
                .containsExactly("running", "out-of-contact", "out-of-contact");
    }

    @Test
    void devicesThatTheLeaderFreesLateAreNotMeteredAsRunningAfterTheWorkEnded() {
        CellRows rows = new CellRows(database, "races-ended");
        UUID pool = rows.pool("races-ended");
        UUID first = rows.node(pool, "races-ended-1", 1, LONG);
        UUID second = rows.node(pool, "races-ended-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID job = rows.job(pool, 2, rows.profile(1, 2, 2, pool));
        cell.settle();
        run(rows, job);

        long ended = rows.nowMillis();
        rows.reportOn(first, job, "ended", "succeeded");
        rows.workEnded(first, job, ended - 60_000);
        rows.reportOn(second, job, "ended", "succeeded");
        rows.workEnded(second, job, ended);
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(rows.run(
                        "select phase, since_ms, at_ms from usage_event where tenant_id = $1 and phase = 'ended'",
                        rows.tenant))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getLong("since_ms")).isEqualTo(ended);
                    assertThat(row.getLong("at_ms")).isGreaterThan(ended);
                });
    }

    @Test
    void aLostNodeThatHadToldTheEndOfItsWorkIsNotOutOfContact() {
        CellRows rows = new CellRows(database, "races-told");
        UUID pool = rows.pool("races-told");
        UUID node = rows.node(pool, "races-told-1", 1, LONG);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        run(rows, job);

        long ended = rows.nowMillis();
        rows.reportOn(node, job, "ended", "succeeded");
        rows.workEnded(node, job, ended);
        rows.contact(node, OVER);
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(rows.run(
                        "select phase, since_ms from usage_event where tenant_id = $1 and kind = 'phase' order by seq",
                        rows.tenant))
                .extracting(row -> row.getString("phase") + (row.getLong("since_ms") == ended ? " since its end" : ""))
                .containsExactly("running", "ended since its end");
    }

    /** An earlier leader gave the node up in a transaction of its own, and ended before the next step. */
    @Test
    void aNodeGivenUpByAnEarlierLeaderIsOutOfContactAllTheSame() {
        CellRows rows = new CellRows(database, "races-between");
        UUID pool = rows.pool("races-between");
        UUID node = rows.node(pool, "races-between-1", 1, LONG);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        run(rows, job);

        long lastWord = rows.nowMillis();
        rows.reportOn(node, job, "ended", "lost");
        rows.run(
                "update report set silent_since = to_timestamp($2::bigint / 1000.0) where node_id = $1",
                node,
                lastWord);
        rows.run("update node_contact set lost_at = clock_timestamp() where node_id = $1", node);
        cell.settle();

        assertThat(rows.run(
                        "select phase, since_ms from usage_event where tenant_id = $1 and kind = 'phase' order by seq",
                        rows.tenant))
                .extracting(row ->
                        row.getString("phase") + (row.getLong("since_ms") == lastWord ? " since its last word" : ""))
                .containsExactly("running", "out-of-contact since its last word");
    }

    @Test
    void aNodeLostWhileItsAttemptIsStoppingIsOutOfContactSinceItsLastWord() {
        CellRows rows = new CellRows(database, "races-late");
        UUID pool = rows.pool("races-late");
        UUID first = rows.node(pool, "races-late-1", 1, LONG);
        UUID second = rows.node(pool, "races-late-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID profile = rows.profile(1, 2, 2, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();
        rows.wish(job, "cancel");
        cell.settle();

        rows.contact(second, OVER);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(rows.run(
                        "select u.phase, u.since_ms, floor(extract(epoch from c.last_heard) * 1000)::bigint as "
                                + "last_word"
                                + " from usage_event u, node_contact c where u.tenant_id = $1 and u.kind = "
                                + "'phase' and c.node_id = $2"
                                + " order by u.seq desc limit 1",
                        rows.tenant,
                        second))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getString("phase")).isEqualTo("out-of-contact");
                    assertThat(row.getLong("since_ms")).isEqualTo(row.getLong("last_word"));
                });

        rows.reportOn(first, job, "ended", "cancelled");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("cancelled");
        assertThat(rows.held()).isZero();
    }

    @Test
    void aWorkerThatIsDoneFirstEndsNobodyElse() {
        CellRows rows = new CellRows(database, "races-done");
        UUID pool = rows.pool("races-done");
        UUID first = rows.node(pool, "races-done-1", 1, LONG);
        UUID second = rows.node(pool, "races-done-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID job = rows.job(pool, 2, rows.profile(1, 2, 2, pool));
        cell.settle();
        run(rows, job);

        rows.reportOn(first, job, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("running");

        rows.reportOn(second, job, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("succeeded");
    }

    /** After an outage of the service, when the lease of every node has expired. */
    @Test
    void soManyLostNodesAreGivenUpInSeveralTurns() {
        cell.settle();
        CellRows rows = new CellRows(database, "losses-many");
        UUID pool = rows.pool("losses-many");
        UUID node = rows.node(pool, "losses-many-0", 1, OVER);
        rows.run(
                "insert into node (id, name, cluster_id, pool_id) select gen_random_uuid(), 'losses-many-' || i, "
                        + "cluster_id, pool_id"
                        + " from node, generate_series(1, $2) as i where id = $1",
                node,
                NodeLossHandler.MAX_NODES_PER_CYCLE);
        rows.run(
                "insert into node_contact (node_id, agent_version, boot_id, instance_id, isolation, last_heard, "
                        + "lease_until)"
                        + " select n.id, c.agent_version, c.boot_id, c.instance_id, c.isolation, c.last_heard, "
                        + "c.lease_until"
                        + " from node_contact c, node n where c.node_id = $1 and n.pool_id = $2 and n.id <> $1",
                node,
                pool);
        try {
            assertThat(cell.cycle().more()).isTrue();
            assertThat(lost(rows, pool)).isEqualTo(NodeLossHandler.MAX_NODES_PER_CYCLE);
            cell.cycle();
            assertThat(lost(rows, pool)).isEqualTo(NodeLossHandler.MAX_NODES_PER_CYCLE + 1);
        } finally {
            rows.run("delete from node_contact where node_id in (select id from node where pool_id = $1)", pool);
            rows.run("delete from gpu where node_id in (select id from node where pool_id = $1)", pool);
            rows.run("delete from node where pool_id = $1", pool);
            rows.run("delete from inbox");
        }
    }

    private static long lost(CellRows rows, UUID pool) {
        return rows.run(
                        "select count(*) as lost from node_contact c join node n on n.id = c.node_id where "
                                + "n.pool_id = $1 and c.lost_at is not null",
                        pool)
                .getFirst()
                .getLong("lost");
    }

    @Test
    void whatASilentNodeDidSinceItsLastWordIsNotCountedAsRunning() {
        CellRows rows = new CellRows(database, "races-silent");
        UUID pool = rows.pool("races-silent");
        UUID node = rows.node(pool, "races-silent-1", 1, LONG);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        run(rows, job);
        rows.contact(node, OVER);
        long lastWord = rows.run(
                        "select floor(extract(epoch from last_heard) * 1000)::bigint as ms from node_contact "
                                + "where node_id = $1",
                        node)
                .getFirst()
                .getLong("ms");
        cell.settle();

        assertThat(rows.run(
                        "select phase, since_ms, at_ms from usage_event where tenant_id = $1 and phase = "
                                + "'out-of-contact'",
                        rows.tenant))
                .singleElement()
                .satisfies(row -> {
                    assertThat(row.getLong("since_ms")).isEqualTo(lastWord);
                    assertThat(row.getLong("at_ms")).isGreaterThanOrEqualTo(lastWord);
                });
        assertThat(rows.run("select outcome from report where tenant_id = $1", rows.tenant))
                .extracting(row -> row.getString("outcome"))
                .containsExactly("lost");
    }

    @Test
    void workThatIsLostAtOnceIsTriedAgainAfterADelayThatItsReasonTells() {
        CellRows rows = new CellRows(database, "races-retry");
        UUID job = OneGroup.of(rows, 1, 1).submit();
        rows.run("update workload set quick_losses = 5 where id = $1", job);
        cell.settle();
        for (int loss = 1; loss <= 3; loss++) {
            int losses = loss;
            rows.report(job, "ended", "lost");
            cell.rebuild();
            cell.settle();
            assertThat(rows.state(job)).isEqualTo("waiting");
            assertThat(rows.reason(job)).isEqualTo("RETRY");
            assertThat(rows.run(
                            "select quick_losses, reason->0->>'sentence' as sentence,"
                                    + " round(extract(epoch from retry_at - changed_at)) as delay from workload "
                                    + "where id = $1",
                            job))
                    .singleElement()
                    .satisfies(row -> {
                        assertThat(row.getInteger("quick_losses")).isEqualTo(5 + losses);
                        assertThat(row.getNumeric("delay").intValue()).isEqualTo(16 << losses);
                        assertThat(row.getString("sentence")).contains("lost", "tried again at");
                    });
            CellPlanner.Outcome waits = cell.cycle();
            assertThat(waits.nextPlanMillis()).isPresent();
            assertThat(rows.state(job)).isEqualTo("waiting");

            rows.run("update workload set retry_at = clock_timestamp() - interval '1 second' where id = $1", job);
            if (loss == 1) {
                cell.rebuild();
            } else {
                rows.inbox("workload", job.toString());
            }
            cell.settle();
            assertThat(rows.state(job)).isEqualTo("starting");
        }
    }

    @Test
    void theStartOfWorkIsThatOfItsLastAttempt() {
        CellRows rows = new CellRows(database, "races-started");
        UUID job = OneGroup.of(rows, 1, 1).submit();
        cell.settle();
        run(rows, job);
        OffsetDateTime first = startedAt(rows, job);

        rows.report(job, "ended", "lost");
        cell.settle();
        assertThat(rows.state(job)).isIn("waiting", "starting");
        assertThat(startedAt(rows, job)).isEqualTo(first);
        rows.run("update workload set retry_at = clock_timestamp() - interval '1 second' where id = $1", job);
        rows.inbox("workload", job.toString());
        cell.settle();
        run(rows, job);

        assertThat(attempts(rows, job)).hasSize(2);
        assertThat(startedAt(rows, job)).isAfter(first);
    }

    private static OffsetDateTime startedAt(CellRows rows, UUID job) {
        return rows.run("select started_at from workload where id = $1", job)
                .getFirst()
                .getOffsetDateTime("started_at");
    }

    @Test
    void aDelayEndsByItselfAndByAHoldAndARelease() {
        CellRows rows = new CellRows(database, "races-release");
        UUID job = OneGroup.of(rows, 1, 1).submit();
        cell.settle();
        rows.report(job, "ended", "lost");
        cell.settle();
        assertThat(rows.reason(job)).isEqualTo("RETRY");
        Awaitility.await().atMost(Duration.ofSeconds(10)).until(() -> {
            cell.settle();
            return rows.state(job).equals("starting");
        });

        rows.run("update workload set quick_losses = 8 where id = $1", job);
        rows.report(job, "ended", "lost");
        cell.settle();
        assertThat(rows.reason(job)).isEqualTo("RETRY");
        rows.wish(job, "hold");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("held");
        rows.wish(job, "run");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("starting");
    }

    private static List<Row> attempts(CellRows rows, UUID workload) {
        return rows.run("select number, outcome from attempt where workload_id = $1 order by number", workload);
    }
}
