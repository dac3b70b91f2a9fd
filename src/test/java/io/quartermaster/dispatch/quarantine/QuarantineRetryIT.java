package io.quartermaster.dispatch.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.dispatch.CellRows;
import io.quartermaster.dispatch.HandLedCell;
import io.quartermaster.dispatch.LeaderTerm;
import io.quartermaster.dispatch.LeaderTerm.Result;
import io.quartermaster.dispatch.LedByHand;
import io.quartermaster.dispatch.OneGroup;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.dispatch.read.PlanComputation;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.testing.WithoutLeader;
import io.smallrye.mutiny.TimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Entries of the quarantine that are due for a retry: sound ones return to planning, bad ones delay nothing. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class QuarantineRetryIT extends LedByHand {

    private static final String WHY = "a test";

    private final List<Result> results = new ArrayList<>();

    /** Leaders of other tests read all rows. */
    @AfterEach
    void nothingIsLeftThatIsSetAsideOrCannotBeRead() {
        database.run(CellRows.TIMEOUT, tx -> {
            tx.run("update policy set group_path = '/all' where length(group_path) > 500");
            tx.run("delete from nomination where tenant_id like 'again-%'");
            tx.run("update workload set state = 'cancelled' where tenant_id like 'again-%' and state = 'waiting'");
            tx.run("update workload set set_aside_at = null, set_aside_until = null where set_aside_at is not null");
            tx.run("update tenant set set_aside_at = null, set_aside_until = null where set_aside_at is not null");
            return true;
        });
    }

    @Test
    void workThatStillCannotBeReadIsPutBackAndTheOthersComeBackBesideIt() {
        CellRows rows = new CellRows(database, "again-unreadable");
        OneGroup group = OneGroup.of(rows, 3, 1);
        List<UUID> entries = List.of(group.submit(), group.submit(), group.submit());
        UUID odd = entries.get(1);
        rows.run(
                "insert into nomination (tenant_id, workload_id, pool_id, body, nominated_at)"
                        + " values ($1, $2, $3, '{\"format\": 2, \"places\": []}', clock_timestamp())",
                rows.tenant,
                odd,
                group.pool());
        entries.forEach(entry -> setAside(rows, entry));
        LeaderTerm term = term(Engine::plan);
        UUID other = group.submit();

        until(term, rows, Set.of(odd));

        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
        assertThat(rows.state(other)).isEqualTo("starting");
        assertThat(rows.state(entries.get(0))).isEqualTo("starting");
        assertThat(rows.state(entries.get(2))).isEqualTo("starting");
        assertThat(rows.reason(odd)).isEqualTo("SET_ASIDE");
        assertThat(minutesToRetry(rows, odd)).isBetween(1L, 2L);

        // Another failure: the quarantine lasts twice as long.
        rows.run("update workload set set_aside_until = '-infinity' where id = $1", odd);
        until(term, rows, Set.of(odd));
        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
        assertThat(minutesToRetry(rows, odd)).isBetween(3L, 4L);

        // It returns to planning when it is sound.
        rows.run("delete from nomination where workload_id = $1", odd);
        rows.run("update workload set set_aside_until = '-infinity' where id = $1", odd);
        until(term, rows, Set.of());
        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
        rows.report(other, "ended", "succeeded");
        runCycle(term);
        runCycle(term);
        assertThat(rows.state(odd)).isEqualTo("starting");
    }

    @Test
    void workWithWhichPlansStillFailOrTakeTooLongIsPutBack() {
        for (RuntimeException failure :
                List.of(new IllegalStateException("the engine is ill"), new TimeoutException())) {
            CellRows rows = new CellRows(
                    database, "again-" + failure.getClass().getSimpleName().toLowerCase(Locale.ROOT));
            OneGroup group = OneGroup.of(rows, 1, 1);
            UUID running = group.submit();
            cell.settle();
            UUID odd = group.submit();
            setAside(rows, odd);
            LeaderTerm term = term((engine, now) -> {
                if (plansWith(engine, odd)) {
                    throw failure;
                }
                return engine.plan(now);
            });
            UUID other = group.submit();

            until(term, rows, Set.of(odd));

            assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
            assertThat(minutesToRetry(rows, odd)).isBetween(1L, 2L);
            rows.report(running, "ended", "succeeded");
            runCycle(term);
            assertThat(rows.state(other)).isEqualTo("starting");
            assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
        }
    }

    @Test
    void aTenantThatStillCannotBeReadIsPutBackAndTheOthersGoOn() {
        CellRows odd = new CellRows(database, "again-tenant");
        UUID pool = odd.pool("again-shared");
        odd.node(pool, "again-shared-1", 2, LONG);
        odd.allotment(pool, 1, 1);
        OneGroup ofOdd = OneGroup.of(odd, pool, 1, 1);
        CellRows other = new CellRows(database, "again-other");
        other.allotment(pool, 1, 1);
        OneGroup ofOther = OneGroup.of(other, pool, 1, 1);
        UUID waits = ofOdd.submit();
        odd.run("update policy set group_path = '/' || repeat('x', 600) where tenant_id = $1", odd.tenant);
        odd.run(
                "update tenant set set_aside_at = clock_timestamp(), set_aside_until = '-infinity', "
                        + "set_aside_times = 1, set_aside_why = $2 where id = $1",
                odd.tenant,
                WHY);
        LeaderTerm term = term(Engine::plan);
        UUID first = ofOther.submit();

        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
            runCycle(term);
            return !odd.run(
                            "select 1 from tenant where id = $1 and set_aside_times = 2 and set_aside_until > "
                                    + "clock_timestamp() + interval '1 minute'",
                            odd.tenant)
                    .isEmpty();
        });

        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
        assertThat(other.state(first)).isEqualTo("starting");
        odd.run("update policy set group_path = '/all' where tenant_id = $1", odd.tenant);
        odd.run("update tenant set set_aside_until = '-infinity' where id = $1", odd.tenant);
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
            runCycle(term);
            return odd.state(waits).equals("starting");
        });
        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
    }

    /**
     * After a change of leaders: the new leader retries the entries of the earlier one, and the bad ones do not stop
     * it.
     */
    @Test
    void aNewLeaderIsNotStoppedByWhatTheOneBeforeSetAside() {
        CellRows rows = new CellRows(database, "again-leader");
        OneGroup group = OneGroup.of(rows, 2, 1);
        UUID odd = group.submit();
        UUID well = group.submit();
        rows.run(
                "insert into nomination (tenant_id, workload_id, pool_id, body, nominated_at)"
                        + " values ($1, $2, $3, '{\"format\": 2, \"places\": []}', clock_timestamp())",
                rows.tenant,
                odd,
                group.pool());
        for (UUID entry : List.of(odd, well)) {
            setAside(rows, entry);
            rows.run("update workload set set_aside_until = 'infinity' where id = $1", entry);
        }

        LeaderTerm term = term(Engine::plan);
        until(term, rows, Set.of(odd));

        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
        assertThat(rows.state(well)).isEqualTo("starting");
    }

    /** After an outage: plans take too long until a cycle has less to do. */
    @Test
    void workThatIsWellIsNotPutBackWhileTurnsCannotDoAllThatWaits() {
        CellRows rows = new CellRows(database, "again-backlog");
        OneGroup group = OneGroup.of(rows, 1, 1);
        group.submit();
        cell.settle();
        UUID well = group.submit();
        List<UUID> backlog = Stream.generate(group::submit).limit(12).toList();
        cell.settle();
        setAside(rows, well);
        AtomicInteger slowPlans = new AtomicInteger(2);
        LeaderTerm term = term(
                (engine, now) -> {
                    if (slowPlans.getAndDecrement() > 0 || cancelledIn(engine, rows) > 5) {
                        throw new TimeoutException();
                    }
                    return engine.plan(now);
                },
                8);
        for (int slowCycle = 0; slowCycle < 2; slowCycle++) {
            assertThat(term.runCycle()).isInstanceOf(Result.Failed.class);
            assertThat(term.runCycle()).isInstanceOf(Result.Applied.class);
        }
        rows.run("update workload set wish = 'cancel' where id = any($1)", (Object) backlog.toArray(UUID[]::new));

        for (int i = 0; i < 20 && !waitingToBeCancelled(rows).isEmpty(); i++) {
            term.runCycle();
        }

        assertThat(waitingToBeCancelled(rows)).isEmpty();
        assertThat(rows.run("select set_aside_times from workload where id = $1 and set_aside_at is null", well))
                .singleElement()
                .satisfies(row -> assertThat(row.getInteger("set_aside_times")).isEqualTo(1));
    }

    /**
     * The number of workloads that this cycle cancels: the engine no longer knows them, and the tables still show them
     * as waiting.
     */
    private static long cancelledIn(Engine engine, CellRows rows) {
        return waitingToBeCancelled(rows).stream()
                .filter(workload -> !plansWith(engine, workload))
                .count();
    }

    private static List<UUID> waitingToBeCancelled(CellRows rows) {
        return rows
                .run(
                        "select id from workload where tenant_id = $1 and wish = 'cancel' and state = 'waiting'",
                        rows.tenant)
                .stream()
                .map(row -> row.getUUID("id"))
                .toList();
    }

    @Test
    void aNewLeaderTriesAllThatIsSetAsideHoweverMuchItIs() {
        CellRows rows = new CellRows(database, "again-many");
        OneGroup group = OneGroup.of(rows, 1, 1);
        UUID one = group.submit();
        rows.run("""
                insert into workload (tenant_id, id, name, type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command)
                select tenant_id, gen_random_uuid(), 'w', type, queue_id, policy_id, profile_id, submitted_by,
                    priority, preemptible, command
                  from workload, generate_series(1, 1001) where id = $1
                """, one);
        rows.run("""
                update workload set set_aside_at = clock_timestamp(), set_aside_until = 'infinity',
                    set_aside_times = 1, set_aside_why = $2,
                       reason_code = 'SET_ASIDE', reason = '[]' where tenant_id = $1
                """, rows.tenant, WHY);

        LeaderTerm term = term(Engine::plan);
        until(term, rows, Set.of());

        assertThat(results).hasOnlyElementsOfType(Result.Planned.class);
    }

    private LeaderTerm term(PlanComputation planComputation) {
        return term(planComputation, HandLedCell.BATCH);
    }

    private LeaderTerm term(PlanComputation planComputation, int batch) {
        LeaderTerm term = new LeaderTerm(
                database, HandLedCell.leaderSettings(Settings.DEFAULT, batch).with(planComputation));
        term.begin(cell.epoch());
        results.clear();
        return term;
    }

    private void runCycle(LeaderTerm term) {
        results.add(term.runCycle());
    }

    /** Runs cycles until exactly these are quarantined and none of them is due. */
    private void until(LeaderTerm term, CellRows rows, Set<UUID> expected) {
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> {
            runCycle(term);
            List<UUID> aside = rows
                    .run(
                            "select id from workload where tenant_id = $1 and set_aside_at is not null and "
                                    + "set_aside_until > clock_timestamp()",
                            rows.tenant)
                    .stream()
                    .map(row -> row.getUUID("id"))
                    .toList();
            long all = rows.run(
                            "select count(*) as n from workload where tenant_id = $1 and set_aside_at is not null",
                            rows.tenant)
                    .getFirst()
                    .getLong("n");
            return Set.copyOf(aside).equals(expected) && all == expected.size();
        });
    }

    private static void setAside(CellRows rows, UUID workload) {
        rows.run(
                "update workload set set_aside_at = clock_timestamp(), set_aside_until = '-infinity', "
                        + "set_aside_times = 1, set_aside_why = $2, reason_code = 'SET_ASIDE', reason = '[]' where id = $1",
                workload,
                WHY);
    }

    private static long minutesToRetry(CellRows rows, UUID workload) {
        return rows.run(
                        "select ceil(extract(epoch from set_aside_until - clock_timestamp()) / 60)::bigint as "
                                + "minutes from workload where id = $1",
                        workload)
                .getFirst()
                .getLong("minutes");
    }

    private static boolean plansWith(Engine engine, UUID workload) {
        return engine.snapshot().facts().stream()
                .anyMatch(fact -> fact instanceof Change.WorkloadSet(var known)
                        && known.id().equals(EngineFacts.id(workload)));
    }
}
