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
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
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
        UUID pool = pool(rows, 2);
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
        UUID pool = pool(rows, 4);
        cell.settle();
        assertThat(reserved(rows)).containsExactly(4_000L);

        // As if the inbox row of this change had been set aside.
        rows.run("update allotment set reserved_milli = 3000 where tenant_id = $1 and pool_id = $2", rows.tenant, pool);
        cell.rebuild();
        cell.settle();
        cell.rebuild();
        cell.settle();

        assertThat(reserved(rows)).containsExactly(4_000L, 3_000L);
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
        UUID pool = pool(rows, 1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        rows.report(job, "ended", "succeeded");
        rows.run("delete from inbox where tenant_id = $1", rows.tenant);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("starting");

        cell.rebuild();
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(held(rows)).isZero();
    }

    @Test
    void aGangWithALostNodeEndsWhenTheOthersHaveStoppedAndWaitsAgain() {
        CellRows rows = new CellRows(database, "races-gang");
        UUID pool = rows.pool("races-gang");
        UUID first = rows.node(pool, "races-gang-1", 1, LONG);
        UUID second = rows.node(pool, "races-gang-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID profile = rows.profile(1, 2, 2, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("running");

        rows.contact(second, OVER);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(held(rows)).isEqualTo(2);

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
                .containsExactly("lost", null);
        assertThat(rows.state(job)).isEqualTo("starting");
        assertThat(rows.run(
                        "select phase from usage_event where tenant_id = $1 and kind = 'phase' order by seq",
                        rows.tenant))
                .extracting(row -> row.getString("phase"))
                .containsExactly("running", "out-of-contact", "stopping");
    }

    @Test
    void aWorkerThatIsDoneFirstEndsNobodyElse() {
        CellRows rows = new CellRows(database, "races-done");
        UUID pool = rows.pool("races-done");
        UUID first = rows.node(pool, "races-done-1", 1, LONG);
        UUID second = rows.node(pool, "races-done-2", 1, LONG);
        rows.allotment(pool, 2, 2);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID profile = rows.profile(1, 2, 2, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();

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
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID job = rows.submit(rows.queue(policy, profile), policy, profile);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();
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
    void nothingOfATenantThatIsNotActiveStarts() {
        CellRows rows = new CellRows(database, "races-tenant");
        UUID pool = pool(rows, 1);
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
        UUID pool = pool(rows, 2);
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
        UUID pool = pool(rows, 4);
        UUID policy = rows.policy("/all", pool, 4, 4);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        rows.run("update policy set user_limit_milli = 1000 where id = $1", policy);
        UUID first = rows.submit(queue, policy, profile);
        UUID second = rows.submit(queue, policy, profile);
        UUID others = rows.submit(queue, policy, profile);
        rows.run("update workload set submitted_by = 'somebody-else' where id = $1", others);
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
    void anElasticWorkloadGrowsShrinksAndIsMeteredWorkerByWorker() {
        CellRows rows = new CellRows(database, "races-elastic");
        UUID pool = pool(rows, 4);
        UUID wide = rows.policy("/wide", pool, 1, 4);
        UUID other = rows.policy("/other", pool, 3, 4);
        UUID elastic = rows.profile(1, 4, 1, pool);
        UUID two = rows.profile(2, pool);
        UUID job = rows.submit(rows.queue(wide, elastic), wide, elastic);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("running");
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1, 2, 3);
        assertThat(usage(rows, "allocated")).containsExactly(1_000L, 1_000L, 1_000L, 1_000L);

        UUID claimant = rows.submit(rows.queue(other, two), other, two);
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("running");
        assertThat(rows.reason(claimant)).isEqualTo("NOMINATED");
        assertThat(stoppingWorkers(rows, job)).containsExactly(2, 3);
        assertThat(rows.run("select cause from preemption where workload_id = $1", job))
                .extracting(row -> row.getString("cause"))
                .containsExactly("reclaim", "reclaim");

        // The engine is built anew in the middle: it must come to know the same.
        cell.rebuild();
        cell.settle();
        for (int worker : List.of(2, 3)) {
            rows.reportAttempt(rows.surplus(job, worker), job, "ended", "preempted");
        }
        cell.settle();
        assertThat(rows.state(claimant)).isEqualTo("starting");
        assertThat(rows.state(job)).isEqualTo("running");
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1);
        assertThat(usage(rows, "freed")).hasSize(2);

        rows.report(claimant, "ended", "succeeded");
        cell.settle();
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1, 2, 3);

        // A worker that is done by itself is not started again.
        rows.reportAttempt(rows.surplus(job, 1), job, "ended", "succeeded");
        cell.settle();
        assertThat(liveWorkers(rows, job)).containsExactly(null, 2, 3);
    }

    @Test
    void anElasticWorkloadIsOverWhenItsSurplusWorkersHaveStoppedToo() {
        CellRows rows = new CellRows(database, "races-surplus");
        UUID pool = pool(rows, 3);
        UUID policy = rows.policy("/all", pool, 3, 3);
        UUID elastic = rows.profile(1, 3, 1, pool);
        UUID job = rows.submit(rows.queue(policy, elastic), policy, elastic);
        cell.settle();
        rows.report(job, "running", "");
        cell.settle();

        UUID core = rows.run("select id from attempt where workload_id = $1 and worker is null", job)
                .getFirst()
                .getUUID("id");
        rows.reportAttempt(core, job, "ended", "succeeded");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        assertThat(stoppingWorkers(rows, job)).containsExactly(1, 2);

        rows.reportAttempt(rows.surplus(job, 1), job, "ended", "cancelled");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("stopping");
        rows.reportAttempt(rows.surplus(job, 2), job, "ended", "cancelled");
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertThat(held(rows)).isZero();
        assertThat(usage(rows, "freed")).hasSize(3);
    }

    @Test
    void aWorkloadThatLosesASurplusWorkerGoesOnAndGrowsElsewhere() {
        CellRows rows = new CellRows(database, "races-lost");
        UUID pool = rows.pool("races-lost");
        rows.node(pool, "races-lost-1", 1, LONG);
        rows.node(pool, "races-lost-2", 1, LONG);
        rows.allotment(pool, 3, 3);
        UUID policy = rows.policy("/all", pool, 3, 3);
        UUID elastic = rows.profile(1, 2, 1, pool);
        UUID job = rows.submit(rows.queue(policy, elastic), policy, elastic);
        cell.settle();
        UUID on = rows.run(
                        "select node_id from allocation_device d join attempt a on a.id = d.attempt_id where a.workload_id = $1 and a.worker = 1",
                        job)
                .getFirst()
                .getUUID("node_id");
        rows.contact(on, OVER);
        rows.node(pool, "races-lost-3", 1, LONG);
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("starting");
        assertThat(liveWorkers(rows, job)).containsExactly(null, 1);
        assertThat(rows.run("select outcome from attempt where workload_id = $1 and state = 'ended'", job))
                .extracting(row -> row.getString("outcome"))
                .containsExactly("lost");
    }

    private static List<Integer> liveWorkers(CellRows rows, UUID workload) {
        return workers(rows, workload, "state <> 'ended'");
    }

    private static List<Integer> stoppingWorkers(CellRows rows, UUID workload) {
        return workers(rows, workload, "state = 'stopping' and worker is not null");
    }

    private static List<Integer> workers(CellRows rows, UUID workload, String which) {
        List<Integer> workers = new ArrayList<>();
        rows.run(
                        "select worker from attempt where workload_id = $1 and " + which
                                + " order by worker nulls first",
                        workload)
                .forEach(row -> workers.add(row.getInteger("worker")));
        return workers;
    }

    private static List<Long> usage(CellRows rows, String kind) {
        List<Long> amounts = new ArrayList<>();
        rows.run("select gpu_milli from usage_event where tenant_id = $1 and kind = $2 order by seq", rows.tenant, kind)
                .forEach(row -> amounts.add(row.getLong("gpu_milli")));
        return amounts;
    }

    private static UUID pool(CellRows rows, int gpus) {
        UUID pool = rows.pool(rows.tenant);
        rows.node(pool, rows.tenant + "-1", gpus, LONG);
        rows.allotment(pool, gpus, gpus);
        return pool;
    }

    private CapacityFacts.NodeFact fact(UUID node) {
        return database.run(
                CellRows.TIMEOUT, tx -> CapacityFacts.nodes(tx, OffsetDateTime.now(ZoneOffset.UTC), new UUID[] {node})
                        .getFirst());
    }

    private static List<Long> reserved(CellRows rows) {
        return rows
                .run(
                        "select gpu_milli from usage_event where tenant_id = $1 and kind = 'tenant-reserved' order by seq",
                        rows.tenant)
                .stream()
                .map(row -> row.getLong("gpu_milli"))
                .toList();
    }

    private static boolean lost(CellRows rows, UUID node) {
        return rows.run("select lost_at from node_contact where node_id = $1", node)
                        .getFirst()
                        .getOffsetDateTime("lost_at")
                != null;
    }

    private static long held(CellRows rows) {
        return rows.run(
                        "select count(*) as n from allocation_device where tenant_id = $1 and freed_at is null",
                        rows.tenant)
                .getFirst()
                .getLong("n");
    }

    private static List<Row> attempts(CellRows rows, UUID workload) {
        return rows.run("select number, outcome from attempt where workload_id = $1 order by number", workload);
    }
}
