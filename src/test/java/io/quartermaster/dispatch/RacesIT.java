package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.dispatch.read.CapacityFacts;
import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.transaction.StalePlanException;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Commits of others between two steps of the leader, and the state that a newly built leader finds. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class RacesIT extends LedByHand {

    private static final PoisonRowFinder.Selection NOTHING = new PoisonRowFinder.Selection.None();

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
                .isInstanceOf(StalePlanException.class);
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
    void workStartsOnNoNodeThatWasRetiredMeanwhile() {
        CellRows rows = new CellRows(database, "races-retired");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID pool = group.pool();
        cell.settle();
        UUID job = group.submit();
        cell.rebuild();

        assertThatThrownBy(() -> cell.cycle(NOTHING, () -> {
                    rows.run("update node set retired_at = clock_timestamp() where pool_id = $1", pool);
                    tellOfNodes(rows, pool);
                }))
                .isInstanceOf(StalePlanException.class);
        cell.rebuild();
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("waiting");
        assertThat(rows.held()).isZero();
    }

    @Test
    void workStartsOnNoNodeThatWasMovedToAnotherPoolMeanwhile() {
        CellRows rows = new CellRows(database, "races-moved");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID pool = group.pool();
        UUID other = rows.pool("races-moved-other");
        cell.settle();
        UUID next = group.submit();
        cell.rebuild();

        assertThatThrownBy(() -> cell.cycle(NOTHING, () -> {
                    rows.run("update node set pool_id = $2 where pool_id = $1", pool, other);
                    tellOfNodes(rows, other);
                }))
                .isInstanceOf(StalePlanException.class);
        cell.rebuild();
        cell.settle();

        assertThat(rows.state(next)).isEqualTo("waiting");
        assertThat(rows.held()).isZero();
    }

    private static void tellOfNodes(CellRows rows, UUID pool) {
        rows.run("select id from node where pool_id = $1", pool)
                .forEach(node -> rows.inbox("node", node.getUUID("id").toString()));
    }

    @Test
    void aLeaderThatWasJustBuiltStatesWhatIsReservedOnceAndOnlyWhereItChanged() {
        CellRows rows = new CellRows(database, "races-levels");
        UUID pool = rows.poolOf(4);
        cell.settle();
        assertThat(rows.usage("tenant-reserved")).containsExactly(4_000L);

        // As if the inbox row of this change had been quarantined.
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

        // A newly built leader revokes the loss in its first cycle, whether or not the inbox names the node.
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
    void anEndThatIsReportedAfterTheFenceIsNotBookedBeforeTheWorkEnded() {
        CellRows rows = new CellRows(database, "races-end");
        UUID pool = rows.pool("races-end");
        UUID node = rows.node(pool, "races-end-1", 1, LONG);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();

        cell.cycle(new PoisonRowFinder.Selection.Oldest(HandLedCell.BATCH, true), () -> {
            long fenceMillis = rows.nowMillis();
            Awaitility.await().until(rows::nowMillis, now -> now > fenceMillis + 1);
            rows.report(job, "ended", "succeeded");
            rows.workEnded(node, job, rows.nowMillis());
        });

        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertBookedAfterItsEnd(rows, job);
    }

    @Test
    void aCycleWithoutAPlanBooksNoEndBeforeTheWorkEnded() {
        CellRows rows = new CellRows(database, "races-apply");
        UUID pool = rows.poolOf(1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        LifecyclePass lifecycle = new LifecyclePass(database, patientSettings());

        CompletableFuture<Optional<LifecyclePass.Outcome>> pass = database.run(CellRows.TIMEOUT, tx -> {
            tx.run("lock table report in access exclusive mode");
            CompletableFuture<Optional<LifecyclePass.Outcome>> begun =
                    CompletableFuture.supplyAsync(() -> lifecycle.applyToAll(cell.epoch(), Set.of()));
            Awaitility.await()
                    .until(() -> !rows.run("select 1 from pg_locks where relation = 'report'::regclass and not granted")
                            .isEmpty());
            tx.run("""
                    insert into report (tenant_id, attempt_id, node_id, state, outcome, exit_code, reported_at,
                        work_ended_at)
                    select a.tenant_id, a.id, d.node_id, 'ended', 'succeeded', 0, clock_timestamp(), clock_timestamp()
                      from attempt a join allocation_device d on d.attempt_id = a.id where a.workload_id = $1
                    """, job);
            return begun;
        });

        assertThat(pass.join())
                .hasValueSatisfying(outcome -> assertThat(outcome.steps()).isOne());
        assertThat(rows.state(job)).isEqualTo("succeeded");
        assertBookedAfterItsEnd(rows, job);
    }

    /** The settings of a leader that waits longer for locks than the test holds them. */
    private static LeaderSettings patientSettings() {
        LeaderSettings usual = HandLedCell.leaderSettings(Settings.DEFAULT);
        Duration time = CellRows.TIMEOUT;
        return new LeaderSettings(
                usual.cell(),
                usual.lease(),
                new SystemDatabase.Bounds(time, time.multipliedBy(2), time),
                usual.clockTolerance(),
                usual.batch(),
                usual.reasonsPerPlan(),
                usual.pausedForMillis(),
                usual.engine(),
                usual.executors(),
                usual.planning());
    }

    /** Times in whole milliseconds, as stamps are. */
    private static void assertBookedAfterItsEnd(CellRows rows, UUID job) {
        Row booked = rows.run("""
                        select floor(extract(epoch from r.work_ended_at) * 1000)::bigint as work_ended,
                               floor(extract(epoch from a.ended_at) * 1000)::bigint as ended,
                               u.at_ms, floor(extract(epoch from c.stamp) * 1000)::bigint as stamp
                          from attempt a join report r on r.tenant_id = a.tenant_id and r.attempt_id = a.id
                          join usage_event u on u.allocation_id = a.id and u.kind = 'freed'
                          join cell c on c.id = 'main'
                         where a.workload_id = $1
                        """, job).getFirst();
        assertThat(booked.getLong("ended")).isGreaterThanOrEqualTo(booked.getLong("work_ended"));
        assertThat(booked.getLong("at_ms")).isEqualTo(booked.getLong("ended"));
        assertThat(booked.getLong("stamp")).isEqualTo(booked.getLong("ended"));
    }

    @Test
    void aPoolHasAnExecutorWhileOneOfItsClustersIsConnected() {
        CellRows rows = new CellRows(database, "races-executor");
        UUID agents = rows.poolOf(1);
        UUID empty = rows.pool("races-executor-empty");
        UUID counted = rows.pool("races-executor-counted");
        rows.run("update pool set capacity_milli = 8000 where id = $1", counted);
        UUID slurm = rows.pool("races-executor-slurm");
        rows.node(slurm, "races-executor-s", 1, Duration.ofMinutes(30));
        rows.run(
                "update cluster set kind = 'slurm' where id = (select cluster_id from node where pool_id = $1)", slurm);

        assertThat(hasExecutor(agents)).isTrue();
        assertThat(hasExecutor(empty)).isTrue();
        assertThat(hasExecutor(counted)).isFalse();
        assertThat(hasExecutor(slurm)).isFalse();
    }

    @Test
    void whatStartsFromAReservationSaysSoToTheNextLeaderThatIsBuilt() {
        CellRows rows = new CellRows(database, "races-reservation");
        UUID pool = rows.poolOf(2);
        UUID profile = rows.profile(1, pool);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID queue = rows.queue(policy, profile);
        UUID old = rows.submit(queue, policy, profile);
        UUID late = rows.submit(queue, policy, profile);
        rows.run(
                "update workload set submitted_at = submitted_at - interval '1 day' where tenant_id = $1 and id = $2",
                rows.tenant,
                old);
        cell.settle();

        assertThat(rows.state(old)).isEqualTo("starting");
        assertThat(rows.state(late)).isEqualTo("starting");
        assertThat(isFromReservation(rows, old)).isTrue();
        assertThat(isFromReservation(rows, late)).isFalse();
    }

    private boolean isFromReservation(CellRows rows, UUID job) {
        return database.run(CellRows.TIMEOUT, tx -> new CellReader(tx, 0)
                .readLiveThrough(Long.MAX_VALUE).stream()
                        .filter(record -> record.id().equals(job))
                        .findFirst()
                        .flatMap(WorkloadRecord::attempt)
                        .orElseThrow()
                        .fromReservation());
    }

    private boolean hasExecutor(UUID pool) {
        return database.run(
                CellRows.TIMEOUT, tx -> CapacityFacts.pools(tx, CapacityFacts.Executors.AGENTS, new UUID[] {pool})
                        .getFirst()
                        .pool()
                        .hasExecutor());
    }

    @Test
    void workWaitsForTheFirstNodeThatIsConnectedToItsPool() {
        CellRows rows = new CellRows(database, "races-connected");
        UUID pool = rows.pool("races-connected");
        rows.node(pool, "races-connected-s", 1, Duration.ofMinutes(30));
        rows.run("update cluster set kind = 'slurm' where id = (select cluster_id from node where pool_id = $1)", pool);
        rows.allotment(pool, 1, 1);
        UUID job = rows.job(pool, 1, rows.profile(1, pool));
        cell.settle();
        assertThat(rows.state(job)).isEqualTo("waiting");
        assertThat(rows.reason(job)).isEqualTo("NO_EXECUTOR");

        rows.node(pool, "races-connected-a", 1, Duration.ofMinutes(30));
        cell.settle();

        assertThat(rows.state(job)).isEqualTo("starting");
    }

    @Test
    void aTenantsOneRowIsTakenHoweverManyAnotherTenantHas() {
        CellRows many = new CellRows(database, "races-many");
        CellRows one = new CellRows(database, "races-one");
        cell.settle();
        many.run(
                "insert into inbox (tenant_id, kind, ref) select $1, 'workload', gen_random_uuid()::text from "
                        + "generate_series(1, 20000)",
                many.tenant);
        UUID late = UUID.randomUUID();
        one.inbox("workload", late.toString());
        UUID ofNobody = UUID.randomUUID();
        one.run("insert into inbox (kind, ref) values ('pool', $1)", ofNobody.toString());

        InboxBatch batch = database.run(
                CellRows.TIMEOUT,
                tx -> InboxBatch.read(tx, "main", new PoisonRowFinder.Selection.Oldest(100, true), Set.of()));

        assertThat(batch.ids()).hasSize(100);
        assertThat(batch.uuids(Inbox.Kind.WORKLOAD)).contains(late);
        assertThat(batch.uuids(Inbox.Kind.POOL)).contains(ofNobody);
        many.run("delete from inbox");
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
}
