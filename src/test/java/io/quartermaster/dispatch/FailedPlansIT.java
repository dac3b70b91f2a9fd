package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.dispatch.LeaderTerm.Result;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.dispatch.read.PlanComputation;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.testing.WithoutLeader;
import io.smallrye.mutiny.TimeoutException;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Plans that cannot be made or written, and cycles that other transactions delay: reports are applied nevertheless, and
 * the other workloads continue.
 */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class FailedPlansIT extends LedByHand {

    private static final int MAX_CYCLES = 40;

    /** Other tests share the tables. */
    @AfterEach
    void nothingIsSetAside() {
        List.of("workload", "inbox")
                .forEach(table -> database.run(CellRows.TIMEOUT, tx -> {
                    tx.run("update " + table + " set set_aside_at = null where set_aside_at is not null");
                    return true;
                }));
    }

    /** The engine stops, for one workload, another workload that does not run. */
    @Test
    void aDecisionAboutWorkWithoutALiveAttemptCostsNoReportAndOnlyItsPreemptorWaits() {
        CellRows rows = new CellRows(database, "fail-preempt");
        OneGroup group = OneGroup.of(rows, 2, 2);
        UUID victim = group.submit();
        cell.settle();
        run(rows, victim);
        UUID next = group.submit();
        UUID preemptor = group.submit();
        rows.wish(victim, "cancel");
        cell.settle();
        LeaderTerm term = term((engine, now) ->
                isSetAside(rows, preemptor) ? engine.plan(now) : with(engine.plan(now), preempt(next, preemptor)));

        rows.report(victim, "ended", "cancelled");
        assertThat(term.runCycle()).isInstanceOf(Result.Failed.class);
        assertThat(term.runCycle()).isInstanceOf(Result.Applied.class);

        assertThat(rows.state(victim)).isEqualTo("cancelled");
        assertThat(rows.held()).isZero();
        assertThat(rows.run("select 1 from usage_event where tenant_id = $1 and kind = 'freed'", rows.tenant))
                .hasSize(1);
        assertThat(rows.run("select 1 from inbox where set_aside_at is not null"))
                .isEmpty();
        assertThat(term.runCycle()).isInstanceOf(Result.Planned.class);
        assertThat(rows.state(next)).isEqualTo("starting");
        assertThat(rows.reason(preemptor)).isEqualTo("SET_ASIDE");

        // Its retry is due, and the engine is correct again.
        rows.run("update workload set set_aside_until = '-infinity' where id = $1", preemptor);
        LeaderTerm well = term(Engine::plan);
        settle(well);
        assertThat(isSetAside(rows, preemptor)).isFalse();
        assertThat(rows.reason(preemptor)).isNotEqualTo("SET_ASIDE");
        rows.report(next, "ended", "succeeded");
        settle(well);
        assertThat(rows.state(preemptor)).isEqualTo("starting");
    }

    @Test
    void reportsAreAppliedThoughTheEngineMakesNoPlanAtAllAndNothingIsBlamed() {
        CellRows rows = new CellRows(database, "fail-engine");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID running = group.submit();
        cell.settle();
        UUID waiting = group.submit();
        LeaderTerm term = term((engine, now) -> {
            throw new IllegalStateException("the engine is ill");
        });

        rows.report(running, "ended", "succeeded");
        for (int i = 0; i < 12; i++) {
            term.runCycle();
        }

        assertThat(rows.state(running)).isEqualTo("succeeded");
        assertThat(rows.held()).isZero();
        assertThat(setAside(rows)).isEmpty();
        rows.wish(waiting, "cancel");
        term.runCycle();
        term.runCycle();
        assertThat(rows.state(waiting)).isEqualTo("cancelled");
    }

    @Test
    void timeoutsBlameNeitherWorkNorRowsHoweverManyThereAre() {
        CellRows rows = new CellRows(database, "fail-slow");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID running = group.submit();
        cell.settle();
        LeaderTerm term = term((engine, now) -> {
            throw new TimeoutException();
        });

        rows.report(running, "ended", "succeeded");
        group.submit();
        for (int i = 0; i < 60; i++) {
            term.runCycle();
        }

        assertThat(rows.state(running)).isEqualTo("succeeded");
        assertThat(setAside(rows)).isEmpty();
        assertThat(rows.run("select 1 from inbox where set_aside_at is not null"))
                .isEmpty();
    }

    /** The engine gives one device to two workloads. */
    @Test
    void aStartThatTheDatabaseRefusesCostsOnlyTheWorkThatItIsOf() {
        CellRows rows = new CellRows(database, "fail-twice");
        OneGroup group = OneGroup.of(rows, 2, 1);
        UUID running = group.submit();
        cell.settle();
        UUID twice = group.submit();
        UUID other = group.submit();
        LeaderTerm term = term((engine, now) -> {
            Plan plan = engine.plan(now);
            List<Decision> decisions = new ArrayList<>(plan.decisions());
            decisions.replaceAll(
                    decision -> decision instanceof Decision.Start(var id, var place, var rule, var reserved)
                                    && id.equals(EngineFacts.id(twice))
                            ? new Decision.Start(id, placeOf(rows, running), rule, reserved)
                            : decision);
            return new Plan(plan.nowMillis(), decisions, plan.reasonChanges(), plan.nextPlanAtMillis());
        });

        settle(term);

        assertThat(setAside(rows)).containsExactly(twice);
        assertThat(rows.state(other)).isEqualTo("starting");
        assertThat(rows.held()).isEqualTo(2);
    }

    @Test
    void workThatIsSetAsideWhileItRunsEndsAndItsDevicesAreGivenToOthers() {
        CellRows rows = new CellRows(database, "fail-running");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID odd = group.submit();
        cell.settle();
        UUID next = group.submit();
        cell.settle();
        LeaderTerm term =
                term((engine, now) -> isSetAside(rows, odd) || !rows.state(odd).equals("starting")
                        ? engine.plan(now)
                        : with(engine.plan(now), preempt(UUID.randomUUID(), odd)));
        term.runCycle();
        term.runCycle();
        assertThat(setAside(rows)).containsExactly(odd);

        rows.report(odd, "ended", "succeeded");
        settle(term);

        assertThat(rows.state(odd)).isEqualTo("succeeded");
        assertThat(isSetAside(rows, odd)).isFalse();
        assertThat(rows.state(next)).isEqualTo("starting");
    }

    @Test
    void aWorkloadThatAnotherTransactionHasLockedWaitsAloneAndLosesNothing() {
        CellRows rows = new CellRows(database, "fail-locked");
        OneGroup group = OneGroup.of(rows, 3, 1);
        UUID running = group.submit();
        cell.settle();
        LeaderTerm term = term(Engine::plan);
        settle(term);
        rows.report(running, "running", "");
        UUID lockedToo = group.submit();
        UUID other = group.submit();

        database.run(CellRows.TIMEOUT, tx -> {
            tx.run("update workload set wish = wish where id in ($1, $2)", running, lockedToo);
            settle(term);
            assertThat(rows.state(other)).isEqualTo("starting");
            assertThat(rows.state(running)).isEqualTo("starting");
            assertThat(rows.state(lockedToo)).isEqualTo("waiting");
            assertThat(term.locked()).containsExactlyInAnyOrder(running, lockedToo);
            return true;
        });
        assertThat(setAside(rows)).isEmpty();

        LeaderTerm later = term(Engine::plan);
        settle(later);
        assertThat(rows.state(running)).isEqualTo("running");
        assertThat(rows.state(lockedToo)).isEqualTo("starting");
    }

    @Test
    void anInboxRowThatCannotBeReadIsSetAsideAndTheOthersAreNot() {
        CellRows rows = new CellRows(database, "fail-inbox");
        OneGroup group = OneGroup.of(rows, 1, 1);
        LeaderTerm term = term(Engine::plan);
        settle(term);
        rows.run("insert into inbox (tenant_id, kind, ref) values (null, 'policy', 'of-no-tenant')");
        UUID next = group.submit();

        settle(term);

        assertThat(rows.state(next)).isEqualTo("starting");
        assertThat(rows.run("select ref from inbox where set_aside_at is not null"))
                .extracting(row -> row.getString("ref"))
                .containsExactly("of-no-tenant");
        rows.run("delete from inbox where ref = 'of-no-tenant'");
    }

    @Test
    void whatIsReportedOfWorkThatIsSetAsideIsAppliedInPartsSoThatPlansComeBetween() {
        CellRows rows = new CellRows(database, "fail-many");
        OneGroup group = OneGroup.of(rows, 1, 1);
        for (int i = 0; i < 60; i++) {
            group.submit();
        }
        cell.settle();
        rows.run(
                "update workload set set_aside_at = clock_timestamp(), set_aside_until = 'infinity', wish = "
                        + "'cancel' where tenant_id = $1 and state = 'waiting'",
                rows.tenant);
        LifecyclePass lifecycle = new LifecyclePass(database, HandLedCell.leaderSettings(Settings.DEFAULT));

        assertThat(lifecycle
                        .applyToQuarantined(cell.epoch(), Set.of())
                        .orElseThrow()
                        .steps())
                .isEqualTo(50);
        assertThat(lifecycle
                        .applyToQuarantined(cell.epoch(), Set.of())
                        .orElseThrow()
                        .steps())
                .isEqualTo(9);
        assertThat(setAside(rows)).isEmpty();
    }

    /** The database's clock was ahead for a moment. */
    @Test
    void aReplicaStepsDownWhereTheStampIsAheadOfItsClock() {
        CellRows rows = new CellRows(database, "fail-clock");
        LeaderTerm term = term(Engine::plan);
        settle(term);
        rows.run("update cell set stamp = clock_timestamp() + interval '1 minute'");
        try {
            assertThat(term.runCycle()).isInstanceOf(Result.SteppedDown.class);
        } finally {
            rows.run("update cell set stamp = date_trunc('milliseconds', clock_timestamp())");
        }
        assertThat(term.runCycle()).isInstanceOf(Result.Planned.class);
    }

    private LeaderTerm term(PlanComputation planComputation) {
        LeaderTerm term = new LeaderTerm(
                database, HandLedCell.leaderSettings(Settings.DEFAULT).with(planComputation));
        term.begin(cell.epoch());
        return term;
    }

    /** Runs cycles until one plans and has no more work. */
    private static void settle(LeaderTerm term) {
        for (int i = 0; i < MAX_CYCLES; i++) {
            if (term.runCycle() instanceof Result.Planned(CellPlanner.Outcome outcome)
                    && outcome.inboxRows() == 0
                    && outcome.plan().decisions().isEmpty()
                    && !outcome.more()) {
                return;
            }
        }
        throw new AssertionError("not settled after " + MAX_CYCLES + " cycles");
    }

    private static Plan with(Plan plan, Decision more) {
        List<Decision> decisions = new ArrayList<>(plan.decisions());
        decisions.add(more);
        return new Plan(plan.nowMillis(), decisions, plan.reasonChanges(), plan.nextPlanAtMillis());
    }

    private static Decision preempt(UUID victim, UUID preemptor) {
        return new Decision.Evict(
                EngineFacts.id(victim),
                EvictionCause.PREEMPT,
                Optional.of(EngineFacts.id(preemptor)),
                0,
                new EvictionReceipt(EvictionReceipt.Right.PRIORITY, List.of(), List.of(), List.of()));
    }

    private static Allocation placeOf(CellRows rows, UUID running) {
        Row device = rows.run(
                        "select d.node_id, d.device_index from allocation_device d join attempt a on a.id = "
                                + "d.attempt_id where a.workload_id = $1",
                        running)
                .getFirst();
        Allocation.Share share = new Allocation.Share(device.getInteger("device_index"), 1_000, Optional.empty());
        NodeId node = new NodeId(device.getUUID("node_id").toString());
        return new Allocation(
                new PoolId(rows.tenant),
                List.of(new Allocation.Worker(0, new Allocation.Place.OnNode(node, List.of(share)))));
    }

    private static boolean isSetAside(CellRows rows, UUID workload) {
        return setAside(rows).contains(workload);
    }

    private static List<UUID> setAside(CellRows rows) {
        return rows
                .run("select id from workload where tenant_id = $1 and set_aside_at is not null", rows.tenant)
                .stream()
                .map(row -> row.getUUID("id"))
                .toList();
    }
}
