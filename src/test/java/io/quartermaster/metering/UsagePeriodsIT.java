package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import jakarta.inject.Inject;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Usage by days, weeks and months of a time zone: each millisecond is counted in its own period, and only there. */
@QuarkusTest
class UsagePeriodsIT {

    private static final int HOURS = 80;

    private static final List<String> ZONES =
            List.of("UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "America/New_York", "Pacific/Apia");

    /** An amount that is held between two instants. */
    private record Stretch(long from, long to, long gpus) {}

    @Inject
    SystemDatabase database;

    @Inject
    HourCloser closing;

    @Inject
    UsageService usage;

    private final long start = BookRows.hoursAgo(HOURS);
    private final List<Stretch> stretches = new ArrayList<>();

    private BookRows history(String tenant) {
        BookRows rows = new BookRows(database, tenant);
        stretches.add(new Stretch(start + 7 * MINUTE, start + 30 * HOUR + 13 * MINUTE, 1));
        stretches.add(new Stretch(start + 2 * HOUR, start + 2 * HOUR + 45 * MINUTE, 2));
        stretches.add(new Stretch(start + 17 * HOUR + 1, start + 77 * HOUR + 59 * MINUTE, 3));
        // Events have the order of their times.
        TreeMap<Long, Runnable> events = new TreeMap<>();
        for (Stretch stretch : stretches) {
            events.put(stretch.from(), () -> {
                UUID attempt = rows.allocated(stretch.from(), stretch.gpus());
                events.put(stretch.to(), () -> rows.freed(stretch.to(), attempt));
            });
        }
        rows.together(() -> {
            while (!events.isEmpty()) {
                events.pollFirstEntry().getValue().run();
            }
        });
        return rows;
    }

    private void closeUntil(BookRows rows, long hourEnd) {
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> {
            closing.closeDue();
            return rows.number(
                            "select count(*) from closed_hour where tenant_id = $1 and hour_ms = $2",
                            rows.tenant,
                            hourEnd)
                    == 1;
        });
    }

    private UsageRequest request(long from, long to, String granularity, @Nullable String zone, String... groupBy) {
        UsageRequest request = new UsageRequest();
        request.from = Instant.ofEpochMilli(from).toString();
        request.to = Instant.ofEpochMilli(to).toString();
        request.granularity = granularity;
        request.timeZone = zone;
        request.groupBy = List.of(groupBy);
        return request;
    }

    private UsageApi.View ask(BookRows rows, UsageRequest request) {
        try {
            return VertxContextSupport.subscribeAndAwait(
                    () -> usage.reportForTenant(new TenantId(rows.tenant), request));
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Minute by minute: each belongs to the day, week or month that its local date has. */
    private Map<Instant, Long> counted(long from, long to, String granularity, String zone) {
        ZoneId id = ZoneId.of(zone);
        Map<Instant, Long> sums = new TreeMap<>();
        for (long minute = from; minute < to; minute += MINUTE) {
            LocalDate day = Instant.ofEpochMilli(minute).atZone(id).toLocalDate();
            LocalDate first =
                    switch (granularity) {
                        case "day" -> day;
                        case "week" -> day.with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY));
                        default -> day.withDayOfMonth(1);
                    };
            for (Stretch stretch : stretches) {
                long length = Math.min(stretch.to(), minute + MINUTE) - Math.max(stretch.from(), minute);
                if (length > 0) {
                    sums.merge(first.atStartOfDay(id).toInstant(), length * stretch.gpus() * 1_000, Long::sum);
                }
            }
        }
        return sums;
    }

    private static Map<Instant, Long> found(UsageApi.View view) {
        Map<Instant, Long> sums = new TreeMap<>();
        view.rows()
                .forEach(row -> sums.merge(
                        row.periodStart(), Long.parseLong(row.totals().held().gpuMilliMillis()), Long::sum));
        return sums;
    }

    @Test
    void everyPeriodHasTheUsageOfItsMinutesFromSumsSegmentsAndOpenHours() {
        BookRows rows = history("periods");
        closeUntil(rows, start + 60 * HOUR);
        for (String zone : ZONES) {
            for (String granularity : List.of("day", "week", "month")) {
                for (long cut : List.of(0L, 20 * MINUTE)) {
                    long from = start + cut;
                    long to = start + HOURS * HOUR - cut;
                    Map<Instant, Long> counted = counted(from, to, granularity, zone);
                    String what = granularity + " in " + zone + " cut by " + cut;

                    UsageApi.View fromSums = ask(rows, request(from, to, granularity, zone, "group"));
                    UsageApi.View fromSegments = ask(rows, request(from, to, granularity, zone, "workload"));

                    assertThat(found(fromSums)).as(what).isEqualTo(counted);
                    assertThat(found(fromSegments)).as(what).isEqualTo(counted);
                    assertThat(fromSums.timeZone()).isEqualTo(zone);
                    assertThat(fromSums.totals()).as(what).isEqualTo(fromSegments.totals());
                }
            }
        }
    }

    @Test
    void onlyHoursInWhichADayBeginsAreReadFromSegments() {
        BookRows rows = history("periods-source");
        closeUntil(rows, start + 70 * HOUR);
        Map<Instant, Long> before = found(ask(rows, request(start, start + 70 * HOUR, "day", "Asia/Kolkata", "group")));

        // A day of Kolkata begins at half past six in the evening (UTC). The answer shows the source of each hour.
        Superuser.run("update usage_hour set gpu_milli_ms = gpu_milli_ms + 1 where tenant_id = 'periods-source' and "
                + "(hour_ms / 3600000) % 24 = 19");
        assertThat(found(ask(rows, request(start, start + 70 * HOUR, "day", "Asia/Kolkata", "group"))))
                .isEqualTo(before);
        Superuser.run("update usage_hour set gpu_milli_ms = gpu_milli_ms + 1 where tenant_id = 'periods-source' and "
                + "(hour_ms / 3600000) % 24 <> 19");
        assertThat(found(ask(rows, request(start, start + 70 * HOUR, "day", "Asia/Kolkata", "group"))))
                .isNotEqualTo(before);
    }

    @Test
    void theTimeZoneOfTheTenantCountsWhereNoneIsStated() {
        BookRows rows = history("periods-zone");
        closeUntil(rows, start + 10 * HOUR);
        UsageRequest request = request(start, start + 10 * HOUR, "day", null);

        assertThat(ask(rows, request).timeZone()).isEqualTo("UTC");
        Superuser.run("insert into usage_settings (tenant_id, label_keys, time_zone, version) values "
                + "('periods-zone', '{}', 'Asia/Kathmandu', 1)");
        assertThat(ask(rows, request).timeZone()).isEqualTo("Asia/Kathmandu");
        assertThat(found(ask(rows, request))).isEqualTo(counted(start, start + 10 * HOUR, "day", "Asia/Kathmandu"));
        assertThat(ask(rows, request(start, start + 10 * HOUR, "day", "UTC")).timeZone())
                .isEqualTo("UTC");
    }

    @Test
    void aWindowWithoutABeginStartsWithTheMonthOfTheZone() {
        BookRows rows = new BookRows(database, "periods-month");
        ZoneId zone = ZoneId.of("Pacific/Kiritimati");
        Superuser.run("insert into usage_settings (tenant_id, label_keys, time_zone, version) values "
                + "('periods-month', '{}', '" + zone + "', 1)");
        UsageRequest request = request(0, System.currentTimeMillis(), "month", null);
        request.from = null;

        UsageApi.View view = ask(rows, request);

        assertThat(view.from()).isEqualTo(beginOfMonth(view.to(), zone));
        request.granularity = "total";
        assertThat(ask(rows, request).from()).isEqualTo(beginOfMonth(view.to(), ZoneOffset.UTC));
    }

    private static Instant beginOfMonth(Instant now, ZoneId zone) {
        return YearMonth.from(now.atZone(zone)).atDay(1).atStartOfDay(zone).toInstant();
    }

    @Test
    void moreDaysThanRowsAreRefused() {
        BookRows rows = new BookRows(database, "periods-many");
        UsageRequest request = request(0, start, "day", "UTC");
        request.to = "9999-12-31T00:00:00Z";

        assertThatThrownBy(() -> ask(rows, request)).isInstanceOfSatisfying(ProblemException.class, e -> assertThat(
                        e.problem().code())
                .isEqualTo("too-many-rows"));
    }
}
