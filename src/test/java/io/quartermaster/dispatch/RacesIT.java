package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.TenantId;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What others commit between two steps of the leader, and what a leader meets that was just built. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class RacesIT {

    private static final Duration LONG = Duration.ofMinutes(30);
    private static final Duration OVER = Duration.ofSeconds(-1);
    private static final Suspicion.Take NOTHING = new Suspicion.Take.Nothing();

    @Inject
    SystemDatabase database;

    private HandLedCell cell;

    @BeforeEach
    void lead() {
        cell = HandLedCell.lead(database);
    }

    @AfterEach
    void resign() {
        cell.close();
    }

    @Test
    void workMovedToAnotherQueueWhileItWasToStartStartsAsWhatItIsThen() {
        CellRows rows = new CellRows(database, "races-move");
        UUID pool = rows.poolOf(2);
        UUID one = rows.policy("/one", pool, 1, 2);
        UUID two = rows.policy("/two", pool, 1, 2);
        UUID profile = rows.profile(1, pool);
        UUID target = rows.queue(two, profile);
        cell.settle();
        UUID job = rows.submit(rows.queue(one, profile), one, profile);
        cell.rebuild();

        assertThatThrownBy(() -> cell.cycle(
                        NOTHING,
                        () -> rows.run(
                                "update workload set queue_id = $2, policy_id = $3 where id = $1", job, target, two)))
                .isInstanceOf(Overtaken.class);
        assertThat(rows.state(job)).isEqualTo("waiting");
        cell.rebuild();
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("starting");
        assertThat(rows.run(
                        "select policy_id from usage_event where tenant_id = $1 and kind = 'allocated'", rows.tenant))
                .extracting(row -> row.getUUID("policy_id"))
                .containsExactly(two);
        assertThat(rows.run("select number from attempt where workload_id = $1", job))
                .hasSize(1);
    }

    @Test
    void aLeaderThatWasJustBuiltStatesWhatIsReservedOnceAndOnlyWhereItChanged() {
        CellRows rows = new CellRows(database, "races-levels");
        UUID pool = rows.poolOf(4);
        cell.settle();
        assertThat(rows.usage("tenant-reserved")).containsExactly(4_000L);

        // As if the inbox row of this change had been set aside.
        rows.run("update allotment set reserved_milli = 3000 where tenant_id = $1 and pool_id = $2", rows.tenant, pool);
        cell.rebuild();
        cell.settle();
        cell.rebuild();
        cell.settle();

        assertThat(rows.usage("tenant-reserved")).containsExactly(4_000L, 3_000L);
    }

    @Test
    void aNodeThatWasGivenUpIsUpOnlyOnceThatIsTakenBack() {
        CellRows rows = new CellRows(database, "races-node");
        UUID pool = rows.pool("races-node");
        UUID node = rows.node(pool, "races-node-1", 1, OVER);
        rows.allotment(pool, 1, 1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        cell.settle();
        assertThat(lost(rows, node)).isTrue();

        rows.run(
                "update node_contact set lease_until = clock_timestamp() + interval '30 minutes' where node_id = $1",
                node);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("waiting");
        assertThat(fact(node)).satisfies(fact -> {
            assertThat(fact.node().up()).isFalse();
            assertThat(fact.heardAgain()).isTrue();
        });

        // A leader that is built takes it back in its first cycle, whether or not the inbox names the node.
        cell.rebuild();
        cell.settle();
        assertThat(lost(rows, node)).isFalse();
        assertThat(rows.state(job)).isEqualTo("starting");

        rows.contact(node, OVER);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("waiting");
    }

    @Test
    void aReportThatNoInboxRowNamesIsTakenInByTheNextLeaderThatIsBuilt() {
        CellRows rows = new CellRows(database, "races-report");
        UUID pool = rows.poolOf(1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        rows.report(job, "ended", "succeeded");
        rows.run("delete from inbox where tenant_id = $1", rows.tenant);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("starting");

        cell.rebuild();
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(rows.held()).isZero();
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

        // The agent of the lost node is back before the rest has stopped: what it says of the attempt counts no more.
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
                .containsExactly("running", "out-of-contact");
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
                        "select u.phase, u.since_ms, floor(extract(epoch from c.last_heard) * 1000)::bigint as last_word"
                                + " from usage_event u, node_contact c where u.tenant_id = $1 and u.kind = 'phase' and c.node_id = $2"
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
                        "select floor(extract(epoch from last_heard) * 1000)::bigint as ms from node_contact where node_id = $1",
                        node)
                .getFirst()
                .getLong("ms");
        cell.settle();

        assertThat(rows.run(
                        "select phase, since_ms, at_ms from usage_event where tenant_id = $1 and phase = 'out-of-contact'",
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
        UUID pool = rows.poolOf(1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
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
                                    + " round(extract(epoch from retry_at - changed_at)) as delay from workload where id = $1",
                            job))
                    .singleElement()
                    .satisfies(row -> {
                        assertThat(row.getInteger("quick_losses")).isEqualTo(5 + losses);
                        assertThat(row.getNumeric("delay").intValue()).isEqualTo(16 << losses);
                        assertThat(row.getString("sentence")).contains("lost", "tried again at");
                    });
            Leader.Outcome waits = cell.cycle();
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
    void aDelayEndsByItselfAndByAHoldAndARelease() {
        CellRows rows = new CellRows(database, "races-release");
        UUID pool = rows.poolOf(1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
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

    @Test
    void nothingOfATenantThatIsNotActiveStarts() {
        CellRows rows = new CellRows(database, "races-tenant");
        UUID pool = rows.poolOf(1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        for (String state : List.of("suspended", "provisioning", "offboarding", "failed")) {
            rows.run("update tenant set state = $2 where id = $1", rows.tenant, state);
            rows.inbox("tenant", rows.tenant);
            UUID job = rows.submit(queue, policy, profile);
            cell.settle();
            assertThat(rows.state(job)).as(state).isEqualTo("waiting");
            assertThat(rows.reason(job)).as(state).isEqualTo("SUSPENDED");
            rows.wish(job, "cancel");
            cell.settle();
        }

        rows.run("update tenant set state = 'active' where id = $1", rows.tenant);
        rows.inbox("tenant", rows.tenant);
        UUID again = rows.submit(queue, policy, profile);
        cell.settle();
        assertThat(rows.state(again)).isEqualTo("starting");
    }

    @Test
    void liveViewsAreToldWhyWorkWaitsWheneverThatChanges() {
        CellRows rows = new CellRows(database, "races-why");
        UUID pool = rows.poolOf(2);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        rows.submit(queue, policy, profile);
        UUID second = rows.submit(queue, policy, profile);
        Leader.Outcome outcome = cell.cycle();
        cell.settle();
        assertThat(outcome.fedTenants()).contains(new TenantId(rows.tenant));
        assertThat(toldWhy(rows, second)).containsExactly("waiting LIMIT");

        // An engine that is built anew says every reason again; nothing is new to those who watch.
        cell.rebuild();
        cell.settle();
        assertThat(toldWhy(rows, second)).containsExactly("waiting LIMIT");

        rows.run("update tenant set state = 'suspended' where id = $1", rows.tenant);
        rows.inbox("tenant", rows.tenant);
        cell.settle();
        assertThat(toldWhy(rows, second)).containsExactly("waiting LIMIT", "waiting SUSPENDED");
    }

    private static List<String> toldWhy(CellRows rows, UUID workload) {
        return rows
                .run(
                        "select body ->> 'state' as state, body ->> 'reason' as reason from feed where tenant_id = $1 and ref = $2"
                                + " and body ? 'reason' order by seq",
                        rows.tenant,
                        workload.toString())
                .stream()
                .map(row -> row.getString("state") + " " + row.getString("reason"))
                .toList();
    }

    @Test
    void oneMemberHoldsNoMoreThanThePolicyAllowsAUser() {
        CellRows rows = new CellRows(database, "races-user");
        UUID pool = rows.poolOf(4);
        UUID policy = rows.policy("/all", pool, 4, 4);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        rows.run("update policy set user_limit_milli = 1000 where id = $1", policy);
        UUID first = rows.submit(queue, policy, profile);
        UUID second = rows.submit(queue, policy, profile);
        UUID others = rows.submit(queue, policy, profile);
        // One person renamed is still one; another under the name of a former one is not.
        rows.run("update workload set submitter = 'one', submitted_by = 'before' where id = $1", first);
        rows.run("update workload set submitter = 'one', submitted_by = 'after' where id = $1", second);
        rows.run("update workload set submitter = 'another', submitted_by = 'before' where id = $1", others);
        cell.settle();
        assertThat(rows.state(first)).isEqualTo("starting");
        assertThat(rows.state(others)).isEqualTo("starting");
        assertThat(rows.state(second)).isEqualTo("waiting");
        assertThat(rows.reason(second)).isEqualTo("LIMIT");

        rows.run("update policy set user_limit_milli = null where id = $1", policy);
        rows.inbox("policy", policy.toString());
        cell.settle();
        assertThat(rows.state(second)).isEqualTo("starting");
    }

    @Test
    void noMoreWorkloadsRunAtOnceThanThePolicyAllows() {
        CellRows rows = new CellRows(database, "races-count");
        UUID pool = rows.poolOf(4);
        UUID policy = rows.policy("/all", pool, 4, 4);
        UUID profile = rows.profile(1, pool);
        rows.run("update policy set max_running = 2 where id = $1", policy);
        rows.inbox("policy", policy.toString());
        UUID queue = rows.queue(policy, profile);
        UUID first = rows.submit(queue, policy, profile);
        UUID second = rows.submit(queue, policy, profile);
        UUID third = rows.submit(queue, policy, profile);
        cell.settle();
        assertThat(List.of(rows.state(first), rows.state(second), rows.state(third)))
                .containsExactly("starting", "starting", "waiting");
        assertThat(rows.run("select reason->0 as reason from workload where id = $1", third))
                .singleElement()
                .satisfies(row -> assertThat(row.getJsonObject("reason").encode())
                        .contains("LIMIT", "2 workloads of " + rows.tenant + "/all run, of at most 2 at once."));

        rows.report(first, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(third)).isEqualTo("starting");

        UUID fourth = rows.submit(queue, policy, profile);
        cell.settle();
        assertThat(rows.reason(fourth)).isEqualTo("LIMIT");
        rows.run("update policy set max_running = null where id = $1", policy);
        rows.inbox("policy", policy.toString());
        cell.settle();
        assertThat(rows.state(fourth)).isEqualTo("starting");
    }

    private CapacityFacts.NodeFact fact(UUID node) {
        return database.run(
                CellRows.TIMEOUT, tx -> CapacityFacts.nodes(tx, OffsetDateTime.now(ZoneOffset.UTC), new UUID[] {node})
                        .getFirst());
    }

    private static boolean lost(CellRows rows, UUID node) {
        return rows.run("select lost_at from node_contact where node_id = $1", node)
                        .getFirst()
                        .getOffsetDateTime("lost_at")
                != null;
    }

    private static List<Row> attempts(CellRows rows, UUID workload) {
        return rows.run("select number, outcome from attempt where workload_id = $1 order by number", workload);
    }

    /** Its executor says that it runs. */
    private void run(CellRows rows, UUID job) {
        rows.report(job, "running", "");
        cell.settle();
    }
}
