package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.dispatch.quarantine.PoisonRowFinder;
import io.quartermaster.dispatch.read.CapacityFacts;
import io.quartermaster.dispatch.read.CellFacts;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.engine.Engine;
import io.quartermaster.engine.benchmark.BenchmarkCell;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.platform.db.LeaderDatabase;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.inject.Inject;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Fills the tables with the representative cell and leads it by hand. It measures the cold start, from the lease to the
 * first committed plan, and then the starts, reports and ends that cycles commit. {@code ./qm campaign leader} runs it
 * and writes {@code benchmarks/leader.md}. The engine's part is stated apart.
 */
@QuarkusTest
@TestProfile(WithoutLeader.class)
@EnabledIfSystemProperty(named = "qm.bench.leader", matches = "true")
class LeaderBenchmarkIT {

    private static final int WARM_UP = Integer.getInteger("qm.bench.leader.warmup", 2);
    private static final int CYCLES = Integer.getInteger("qm.bench.leader.cycles", 20);
    private static final int[] ENDS_PER_CYCLE = {8, 64, 512};
    private static final String CELL = "main";
    private static final Duration LEASE = Duration.ofHours(1);
    private static final SystemDatabase.Bounds BOUNDS =
            new SystemDatabase.Bounds(Duration.ofMinutes(2), Duration.ofMinutes(10), Duration.ofSeconds(1));
    private static final PoisonRowFinder.Selection OLDEST =
            new PoisonRowFinder.Selection.Oldest(HandLedCell.BATCH, true);
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    @Inject
    LeaderDatabase database;

    @Inject
    SystemDatabase system;

    /** Elapsed time: on the clock, on the processors for this process, and for the connection. */
    private record Time(long wallNanos, long processNanos, long connectionNanos) {

        private static final Time NONE = new Time(0, 0, 0);

        static Time now(long backend) {
            long connection = ProcessHandle.of(backend)
                    .flatMap(process -> process.info().totalCpuDuration())
                    .map(Duration::toNanos)
                    .orElse(0L);
            return new Time(System.nanoTime(), PROCESS.getProcessCpuTime(), connection);
        }

        Time since(Time earlier) {
            return new Time(
                    wallNanos - earlier.wallNanos,
                    processNanos - earlier.processNanos,
                    connectionNanos - earlier.connectionNanos);
        }

        Time plus(Time other) {
            return new Time(
                    wallNanos + other.wallNanos,
                    processNanos + other.processNanos,
                    connectionNanos + other.connectionNanos);
        }

        String row(String what) {
            return String.format(
                    Locale.ROOT,
                    "| %s | %.2f | %.2f | %.2f |",
                    what,
                    wallNanos / 1e9,
                    processNanos / 1e9,
                    connectionNanos / 1e9);
        }
    }

    /** A stopwatch around the engine's plan. */
    private static final class Planning {
        private long backend;
        private Time spent = Time.NONE;

        Plan plan(Engine engine, long nowMillis) {
            Time from = Time.now(backend);
            Plan plan = engine.plan(nowMillis);
            spent = spent.plus(Time.now(backend).since(from));
            return plan;
        }
    }

    /** The steps of a cold start. */
    private record ColdStart(Time reading, Time building, Time planning, Time committing, int starts) {

        Time service() {
            return building.plus(committing);
        }
    }

    /** Some cycles of one kind. */
    private record Cycles(String what, int cycles, int starts, int changes, Time all, Time planning, long logBytes) {

        String row() {
            Time rest = all.since(planning);
            int max = Math.max(1, Math.max(starts, changes));
            return String.format(
                    Locale.ROOT,
                    "| %s | %d | %d | %d | %.1f | %.1f | %.0f | %.3f | %.3f | %.0f |",
                    what,
                    cycles,
                    changes,
                    starts,
                    all.wallNanos() / 1e6 / cycles,
                    planning.wallNanos() / 1e6 / cycles,
                    max / (rest.wallNanos() / 1e9),
                    rest.processNanos() / 1e6 / max,
                    rest.connectionNanos() / 1e6 / max,
                    (double) logBytes / max);
        }
    }

    private final Planning planning = new Planning();
    private final List<String> updates = new ArrayList<>();
    private final BenchmarkCell content = BenchmarkCell.configured();
    private final LeaderSettings settings = settings();
    private @Nullable CellPlanner cellPlanner;
    private long epoch;

    private LeaderSettings settings() {
        return new LeaderSettings(
                CELL,
                LEASE,
                BOUNDS,
                Duration.ofSeconds(5),
                HandLedCell.BATCH,
                500,
                3_600_000,
                content.settings(),
                CapacityFacts.Executors.AGENTS,
                planning::plan);
    }

    @Test
    void leader() throws Exception {
        new StoredCell(system, content, System.currentTimeMillis()).write();
        for (int i = 0; i < WARM_UP; i++) {
            System.out.println("cold start " + coldStart(true));
        }
        ColdStart measured = coldStart(false);
        List<Cycles> cycles = new ArrayList<>();
        cycles.add(runs("the first reports of all starts", this::everyStartRuns, Integer.MAX_VALUE));
        updates.addAll(updates());
        for (int ends : ENDS_PER_CYCLE) {
            cycles.add(runs(ends + " ends and the starts they allow", () -> end(ends), CYCLES));
        }
        updates.addAll(updates());
        write(measured, cycles);
        assertThat(measured.starts()).isPositive();
        assertThat(cycles).allSatisfy(each -> assertThat(each.changes()).isPositive());
        assertThat(number(DOUBLE_BOOKED)).isZero();
    }

    private static final String DOUBLE_BOOKED = """
            select count(*) from (select node_id, device_index from allocation_device where freed_at is null
                 group by node_id, device_index having sum(gpu_milli) > 1000) twice
            """;

    /** From the lease to the first committed plan. One for the warm-up is rolled back. */
    private ColdStart coldStart(boolean rolledBack) {
        epoch = 0;
        run("update cell set lease_until = '-infinity'");
        planning.spent = Time.NONE;
        List<ColdStart> found = new ArrayList<>();
        long[] backend = new long[1];
        Time[] marks = new Time[2];
        try {
            database.run(BOUNDS, tx -> {
                backend[0] = backend(tx);
                marks[0] = Time.now(backend[0]);
                epoch = Fence.acquire(tx, CELL, "by hand", LEASE).orElseThrow();
                Fence fence = settings.fence(tx, epoch).orElseThrow();
                Time reading = Time.NONE;
                if (rolledBack) {
                    Time from = Time.now(backend[0]);
                    CellFacts.read(tx, CELL, fence.stamp(), settings.executors(), CellFacts.Extent.ALL);
                    reading = Time.now(backend[0]).since(from);
                    marks[0] = Time.now(backend[0]);
                }
                planning.backend = backend[0];
                CellPlanner built = CellPlanner.build(tx, fence, settings, Set.of());
                cellPlanner = built;
                Time building = Time.now(backend[0]).since(marks[0]);
                marks[1] = Time.now(backend[0]);
                CellPlanner.Outcome outcome =
                        built.cycle(tx, fence, InboxBatch.read(tx, CELL, OLDEST, Set.of()), OLDEST);
                Time rest = Time.now(backend[0]).since(marks[1]).since(planning.spent);
                found.add(new ColdStart(reading, building, planning.spent, rest, starts(outcome.plan())));
                if (rolledBack) {
                    throw new RolledBack();
                }
                marks[1] = Time.now(backend[0]);
                return outcome;
            });
        } catch (RolledBack e) {
            lastReading = found.getFirst().reading();
            return found.getFirst();
        }
        ColdStart start = found.getFirst();
        return new ColdStart(
                lastReading,
                start.building(),
                start.planning(),
                start.committing().plus(Time.now(backend[0]).since(marks[1])),
                start.starts());
    }

    private Time lastReading = Time.NONE;

    private static final class RolledBack extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private static int starts(Plan plan) {
        return (int) plan.decisions().stream()
                .filter(Decision.Start.class::isInstance)
                .count();
    }

    /** Runs cycles until there is no more work, or for the given number of rounds with work of their own. */
    private Cycles runs(String what, Runnable work, int max) {
        boolean once = max == Integer.MAX_VALUE;
        planning.spent = Time.NONE;
        Time all = Time.NONE;
        int starts = 0;
        int changes = 0;
        int cycles = 0;
        if (once) {
            work.run();
        }
        long log = 0;
        while (cycles < max) {
            if (!once) {
                work.run();
            }
            long logBefore = number("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint");
            long[] backend = new long[1];
            Time[] from = new Time[1];
            CellPlanner.Outcome outcome = database.run(BOUNDS, tx -> {
                backend[0] = backend(tx);
                planning.backend = backend[0];
                from[0] = Time.now(backend[0]);
                Fence fence = settings.fence(tx, epoch).orElseThrow();
                return Objects.requireNonNull(cellPlanner)
                        .cycle(tx, fence, InboxBatch.read(tx, CELL, OLDEST, Set.of()), OLDEST);
            });
            all = all.plus(Time.now(backend[0]).since(from[0]));
            log += number("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint") - logBefore;
            cycles++;
            starts += starts(outcome.plan());
            changes += outcome.inboxRows();
            if (once && outcome.inboxRows() == 0) {
                break;
            }
        }
        Cycles result = new Cycles(what, cycles, starts, changes, all, planning.spent, log);
        System.out.println(result.row());
        return result;
    }

    private static long backend(SystemTransaction transaction) {
        return transaction
                .run("select pg_backend_pid() as pid")
                .iterator()
                .next()
                .getInteger("pid");
    }

    private void everyStartRuns() {
        report("running", null, "w.state = 'starting'", Integer.MAX_VALUE);
    }

    private void end(int count) {
        report("ended", "succeeded", "w.state in ('starting', 'running')", count);
    }

    private void report(String state, @Nullable String outcome, String which, int max) {
        run(String.format(Locale.ROOT, """
                with chosen as (
                    select w.tenant_id, w.id, a.id as attempt from workload w
                      join attempt a on a.tenant_id = w.tenant_id and a.workload_id = w.id and a.ended_at is null
                     where %s order by w.id limit %d),
                reported as (
                    insert into report (tenant_id, attempt_id, node_id, state, outcome, exit_code, reported_at)
                    select c.tenant_id, c.attempt, d.node_id, $1, $2, 0, clock_timestamp() from chosen c
                      join allocation_device d on d.tenant_id = c.tenant_id and d.attempt_id = c.attempt
                     group by c.tenant_id, c.attempt, d.node_id
                    on conflict (tenant_id, attempt_id, node_id) do update set state = excluded.state,
                        outcome = excluded.outcome)
                insert into inbox (tenant_id, kind, ref) select tenant_id, 'report', id::text from chosen
                """, which, max), state, outcome);
    }

    private void run(String sql, @Nullable Object... parameters) {
        system.run(Duration.ofMinutes(2), tx -> tx.run(sql, parameters));
    }

    private long number(String sql) {
        return system.run(
                Duration.ofMinutes(2), tx -> tx.run(sql).iterator().next().getLong(0));
    }

    /** The updates so far. The statistics of a connection appear with a delay of up to a second. */
    private List<String> updates() throws InterruptedException {
        Thread.sleep(2_000);
        List<String> lines = new ArrayList<>();
        system.run(Duration.ofMinutes(2), tx -> {
            for (Row row : tx.run("""
                    select relname, n_tup_ins, n_tup_upd, n_tup_hot_upd from pg_stat_user_tables
                     where n_tup_upd > 0 and relname in ('workload', 'attempt', 'allocation_device', 'node', 'report')
                     order by relname
                    """)) {
                lines.add(String.format(
                        Locale.ROOT,
                        "| `%s` | %d | %d | %.2f |",
                        row.getString("relname"),
                        row.getLong("n_tup_ins"),
                        row.getLong("n_tup_upd"),
                        (double) row.getLong("n_tup_hot_upd") / row.getLong("n_tup_upd")));
            }
            return true;
        });
        return lines;
    }

    private void write(ColdStart start, List<Cycles> cycles) throws IOException {
        List<String> lines = new ArrayList<>(List.of(
                "# The leader's cold start and commits",
                "",
                "Made by `./qm campaign leader`. The tables are filled with the representative cell. All is in one "
                        + "process with the",
                "tests; PostgreSQL (fsync on) is on the same machine. *Process* is the processor time of the whole "
                        + "Java process,",
                "*connection* that of the leader's connection in PostgreSQL.",
                "",
                "- " + content.text(),
                String.format(
                        Locale.ROOT,
                        "- %d processors, %s %s, Java %s, heap of at most %d MiB, load average %.1f at the end",
                        Runtime.getRuntime().availableProcessors(),
                        System.getProperty("os.name"),
                        System.getProperty("os.arch"),
                        Runtime.version(),
                        Runtime.getRuntime().maxMemory() >> 20,
                        PROCESS.getSystemLoadAverage()),
                "",
                "## Cold start",
                "",
                "From the lease to the first committed plan, with " + start.starts() + " starts, after " + WARM_UP
                        + " that were rolled back. The time of",
                "reading the tables is that of the last warm-up; it is a part of building.",
                "",
                "| step | wall s | process s | connection s |",
                "| --- | ---: | ---: | ---: |",
                start.reading().row("reading the tables"),
                start.building().row("building: reading, and giving all to the engine"),
                start.planning().row("planning, by the engine alone"),
                start.committing().row("translating, writing and committing"),
                start.service().row("all without planning"),
                start.service().plus(start.planning()).row("all"),
                "",
                "## Cycles",
                "",
                "The last four figures count the starts or the inbox rows, whichever are more, and leave out the "
                        + "engine's plan.",
                "",
                "| cycles with | cycles | inbox rows | starts | ms per cycle | of it planning | per second | process, ms "
                        + "| connection, ms | bytes of log |",
                "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"));
        cycles.forEach(each -> lines.add(each.row()));
        lines.addAll(List.of(
                "",
                "Updates until the first ends, and then to the end, in total:",
                "",
                "| table | rows inserted | updated | of it heap-only |",
                "| --- | ---: | ---: | ---: |"));
        lines.addAll(updates);
        lines.forEach(System.out::println);
        Files.write(Path.of(System.getProperty("qm.bench.leader.output", "benchmarks/leader.md")), lines);
    }
}
