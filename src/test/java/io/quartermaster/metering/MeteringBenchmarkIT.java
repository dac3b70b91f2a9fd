package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.QuarkusTestProfile;
import io.quarkus.test.junit.TestProfile;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.postgresql.PGConnection;

/**
 * Fills a month of usage events of many tenants. It measures the closing of its hours against a bare COPY of the same
 * segments, questions of usage, and the export. {@code ./qm campaign metering} runs it and writes
 * {@code benchmarks/metering.md}; {@code --tenants} and {@code --segments} choose the size. The number of segments is
 * met roughly; the file states the one that was measured.
 */
@QuarkusTest
@TestProfile(MeteringBenchmarkIT.ClosingByHand.class)
@EnabledIfSystemProperty(named = "qm.bench.metering", matches = "true")
class MeteringBenchmarkIT {

    private static final int TENANTS = Integer.getInteger("qm.bench.metering.tenants", 20);
    private static final int SEGMENTS = Integer.getInteger("qm.bench.metering.segments", 1_000_000);
    private static final int DAYS = 30;
    private static final int HOURS = DAYS * 24;
    private static final int ASKED = 21;
    private static final Duration LONG = Duration.ofMinutes(30);

    /** The service closes no hours by itself, so that the benchmark sees all of the closing. */
    public static final class ClosingByHand implements QuarkusTestProfile {
        @Override
        public Map<String, String> getConfigOverrides() {
            return Map.of("quartermaster.metering.closing", "false");
        }
    }

    @Inject
    SystemDatabase database;

    @Inject
    HourCloser closing;

    @Inject
    UsageService usage;

    @Inject
    UsageExport exports;

    private final long begin = BookRows.hoursAgo(HOURS + 48);
    private final long end = begin + HOURS * HOUR;

    @Test
    void metering() throws Exception {
        List<String> tenants = fill();
        long events = number("select count(*) from usage_event");
        resetPeaks();
        long start = System.nanoTime();
        int hours = closing.closeDue();
        double closingSeconds = seconds(start);
        long peak = peakMiB();
        long segments = number("select count(*) from segment");
        double[] copies = copies();

        String first = tenants.getFirst();
        double byGroup = medianMillis(first, "group");
        double byQueueAndUser = medianMillis(first, "queue", "user");
        double byWorkload = medianMillis(first, "workload");

        resetPeaks();
        AtomicLong bytes = new AtomicLong();
        long exporting = System.nanoTime();
        exports.prepareForTenants(Optional.empty(), month())
                .onItem()
                .transformToMulti(UsageExport.PreparedExport::pieces)
                .onItem()
                .invoke(piece -> bytes.addAndGet(piece.length()))
                .collect()
                .last()
                .await()
                .atMost(LONG);
        double exportSeconds = seconds(exporting);
        long exported = number("select count(*) from segment where hour_ms > " + begin + " and hour_ms <= " + end);
        long exportPeak = peakMiB();

        write(List.of(
                "# Metering a month",
                "",
                "Made by `./qm campaign metering --tenants " + TENANTS + " --segments " + SEGMENTS + "`. It fills "
                        + DAYS + " days of usage events and",
                "closes all their hours in one go. Then it copies the same segments with one bare `COPY` each into two "
                        + "empty tables:",
                "one like `segment` with its indexes, and one without any index. All is in one process with the tests; "
                        + "PostgreSQL",
                "(fsync on) is on the same machine. The figures of usage are medians of " + ASKED
                        + " questions about one tenant's month,",
                "without HTTP. The export is that of all tenants, in CSV, without HTTP.",
                "",
                "- " + conditions(),
                String.format(
                        Locale.ROOT,
                        "- %d tenants, %,d usage events, %,d segments, %,d tenant-hours, %,d hourly sums",
                        TENANTS,
                        events,
                        segments,
                        hours,
                        number("select count(*) from usage_hour")),
                "",
                "| what | figure | goal |",
                "| --- | ---: | ---: |",
                line("closing, segments/s", segments / closingSeconds, ""),
                line("tenant-hours closed per second", hours / closingSeconds, "1200"),
                line("bare COPY with indexes, rows/s", segments / copies[0], ""),
                line("bare COPY without indexes, rows/s", segments / copies[1], ""),
                ratio("closing rate as a share of COPY with indexes", copies[0] / closingSeconds, "0.4"),
                ratio("closing rate as a share of COPY without indexes", copies[1] / closingSeconds, ""),
                line("heap at most while closing, MiB", peak, "1024"),
                ratio("usage of a month by group, ms", byGroup, "100"),
                ratio("usage of a month by queue and user, ms", byQueueAndUser, "100"),
                ratio("usage of a month by workload (from segments), ms", byWorkload, ""),
                line("export, records/s", exported / exportSeconds, "50000"),
                line("heap at most while exporting, MiB", exportPeak, "1024"),
                line(
                        "stored book states, MiB",
                        number("select coalesce(sum(pg_column_size(state)), 0) / 1048576 from closed_hour"),
                        ""),
                line(
                        "hourly sums with indexes, MiB",
                        number("select pg_total_relation_size('usage_hour') / 1048576"),
                        ""),
                line(
                        "segments with indexes, MiB",
                        number(
                                "select sum(pg_total_relation_size(relid))::bigint / 1048576 from pg_partition_tree('segment')"),
                        "")));
    }

    /**
     * Fills the month of each tenant: 60 % of its segments are of work that runs for a day, and the rest of jobs that
     * come and go within two hours.
     */
    private List<String> fill() {
        int perHour = Math.max(10, SEGMENTS / TENANTS / HOURS);
        int daily = perHour * 6 / 10;
        int jobs = Math.max(1, perHour * 4 / 10 / 4);
        List<String> tenants = new ArrayList<>();
        for (int i = 0; i < TENANTS; i++) {
            BookRows rows = new BookRows(database, "metering-" + (100 + i));
            rows.reserved(begin, daily);
            rows.policyReserved(begin, daily / 2);
            Superuser.run("""
                    with work as (
                        select gen_random_uuid() as id, gen_random_uuid() as workload, from_ms, to_ms, n
                          from (select %1$d + d::bigint * 86400000 + i * %2$d as from_ms,
                                       %1$d + (d + 1)::bigint * 86400000 + i * %2$d - 500 as to_ms, i as n
                                  from generate_series(0, %3$d - 2) d, generate_series(1, %4$d) i
                                union all
                                select %1$d + h::bigint * 3600000 + j * %5$d + 17, %1$d + (h + 1)::bigint * 3600000 + j * %5$d - 300000, j
                                  from generate_series(0, %3$d * 24 - 3) h, generate_series(1, %6$d) j) spans),
                    event as (
                        select from_ms as at_ms, 'allocated' as kind, id, 1000 as gpu_milli, null as phase,
                               null::bigint as since_ms,
                               jsonb_build_object('policy', '%7$s', 'group', '/research/team-' || n %% 8, 'profile',
                                   'large', 'queue', 'queue-' || n %% 8, 'workload', workload, 'attempt', id, 'user',
                                   'user-' || n %% 20, 'cluster', 'here', 'preemptible', true) as marks
                          from work
                        union all select from_ms + 60000, 'phase', id, null, 'running', from_ms + 60000, null from work
                        union all select to_ms, 'freed', id, null, null, null, null from work),
                    numbered as (select *, row_number() over (order by at_ms, id) as n from event),
                    taken as (update cell set sequence = sequence + (select count(*) from numbered) where id = 'main'
                        returning sequence - (select count(*) from numbered) as base)
                    insert into usage_event (seq, cell_id, tenant_id, at_ms, kind, pool_id, pool, allocation_id,
                        policy_id, gpu_milli, phase, since_ms, marks)
                    select base + n, 'main', '%8$s', at_ms, kind, '%9$s', '%10$s', id,
                           case when kind = 'allocated' then '%7$s'::uuid end, gpu_milli, phase, since_ms, marks
                      from numbered, taken
                    """.formatted(
                            begin,
                            MINUTE,
                            DAYS,
                            daily,
                            HOUR / (jobs + 1),
                            jobs,
                            rows.policy,
                            rows.tenant,
                            rows.pool,
                            rows.poolName()));
            tenants.add(rows.tenant);
        }
        Superuser.run("vacuum analyze usage_event");
        return tenants;
    }

    private ExportRequest month() {
        ExportRequest request = new ExportRequest();
        request.from = Instant.ofEpochMilli(begin).toString();
        request.to = Instant.ofEpochMilli(end).toString();
        return request;
    }

    private double medianMillis(String tenant, String... groupBy) {
        UsageRequest request = new UsageRequest();
        request.from = Instant.ofEpochMilli(begin).toString();
        request.to = Instant.ofEpochMilli(end).toString();
        request.groupBy = List.of(groupBy);
        double[] took = new double[ASKED];
        for (int i = 0; i < ASKED; i++) {
            long start = System.nanoTime();
            try {
                VertxContextSupport.subscribeAndAwait(() -> usage.reportForTenant(new TenantId(tenant), request));
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
            took[i] = seconds(start) * 1_000;
        }
        Arrays.sort(took);
        return took[ASKED / 2];
    }

    /** The seconds of a bare COPY of all segments, with the indexes of their table and without. */
    private double[] copies() throws SQLException, IOException {
        Path file = Files.createTempFile(Path.of("target"), "segments", ".copy");
        try (Connection superuser = Superuser.connection()) {
            try (OutputStream out = Files.newOutputStream(file)) {
                superuser
                        .unwrap(PGConnection.class)
                        .getCopyAPI()
                        .copyOut("copy (select * from segment) to stdout (format binary)", out);
            }
            double[] seconds = new double[2];
            for (int i = 0; i < 2; i++) {
                try (Statement statement = superuser.createStatement();
                        InputStream in = Files.newInputStream(file)) {
                    statement.execute(
                            "create table segment_copy (like segment_first" + (i == 0 ? " including all)" : ")"));
                    long start = System.nanoTime();
                    superuser
                            .unwrap(PGConnection.class)
                            .getCopyAPI()
                            .copyIn("copy segment_copy from stdin (format binary)", in, 1 << 20);
                    seconds[i] = seconds(start);
                    statement.execute("drop table segment_copy");
                }
            }
            return seconds;
        } finally {
            Files.delete(file);
        }
    }

    private static long number(String sql) throws SQLException {
        try (Connection connection = Superuser.connection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            rows.next();
            return rows.getLong(1);
        }
    }

    private static double seconds(long startNanos) {
        return (System.nanoTime() - startNanos) / 1e9;
    }

    private static List<MemoryPoolMXBean> heap() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .toList();
    }

    private static void resetPeaks() {
        System.gc();
        heap().forEach(MemoryPoolMXBean::resetPeakUsage);
    }

    /** The sum of the peaks of the pools of the heap, which is not less than the peak of the heap. */
    private static long peakMiB() {
        return heap().stream().mapToLong(pool -> pool.getPeakUsage().getUsed()).sum() >> 20;
    }

    private static String conditions() {
        return String.format(
                Locale.ROOT,
                "%d processors, %s %s, Java %s, heap of at most %d MiB, load average %.1f at the end",
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.name"),
                System.getProperty("os.arch"),
                Runtime.version(),
                Runtime.getRuntime().maxMemory() >> 20,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String line(String what, double figure, String goal) {
        return String.format(Locale.ROOT, "| %s | %.0f | %s |", what, figure, goal);
    }

    private static String ratio(String what, double figure, String goal) {
        return String.format(Locale.ROOT, "| %s | %.2f | %s |", what, figure, goal);
    }

    private static void write(List<String> lines) throws IOException {
        lines.forEach(System.out::println);
        Files.write(Path.of("benchmarks/metering.md"), lines);
    }
}
