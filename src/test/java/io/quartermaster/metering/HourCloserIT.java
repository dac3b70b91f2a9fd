package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.metering.audit.AuditApi;
import io.quartermaster.metering.audit.AuditService;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import jakarta.inject.Inject;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Hours close when no event can affect them any more, once, and permanently. */
@QuarkusTest
class HourCloserIT {

    @Inject
    SystemDatabase database;

    @Inject
    HourCloser closing;

    @Inject
    MeteringConfig config;

    @Inject
    AuditService audits;

    private void closeUntil(BookRows rows, long hourEnd) {
        Awaitility.await().atMost(Duration.ofSeconds(15)).until(() -> {
            closing.closeDue();
            return rows.number(
                            "select count(*) from closed_hour where tenant_id = $1 and hour_ms = $2",
                            rows.tenant,
                            hourEnd)
                    == 1;
        });
    }

    private List<SegmentStore.StoredSegment> stored(BookRows rows) {
        return database.run(Duration.ofSeconds(10), tx -> SegmentStore.readBetween(
                        UsageQuery.of(tx), new TenantKey(rows.tenant), 0, 10_000)
                .await()
                .indefinitely());
    }

    @Test
    void pastHoursCloseAndTheirSegmentsAreChainedAndAddUp() {
        BookRows rows = new BookRows(database, "closing-a");
        long start = BookRows.hoursAgo(4);
        rows.reserved(start, 4);
        rows.policyReserved(start, 2);
        UUID attempt = rows.allocated(start + 10 * MINUTE, 6);
        rows.phase(start + 11 * MINUTE, attempt, "running", start + 11 * MINUTE);
        rows.unmet(start + 30 * MINUTE, 1);
        rows.freed(start + 70 * MINUTE, attempt);

        closeUntil(rows, start + 3 * HOUR);

        List<SegmentStore.StoredSegment> stored = stored(rows);
        assertThat(HashChain.verify(
                        HashChain.beginning(new TenantKey(rows.tenant)),
                        stored.stream().map(SegmentStore.StoredSegment::link).toList()))
                .isInstanceOf(HashChain.Intact.class);
        assertThat(stored).allSatisfy(each -> assertThat(each.segment().id()).hasToString(each.storedId()));
        long held = stored.stream()
                .map(SegmentStore.StoredSegment::segment)
                .filter(segment -> segment.held().isPresent())
                .mapToLong(Segment::gpuMilliMillis)
                .sum();
        assertThat(held).isEqualTo(6_000 * 60 * MINUTE);
        assertThat(rows.number(
                        "select (sum(gpu_milli * (to_ms - from_ms)))::bigint from segment where tenant_id = $1 "
                                + "and class in ('reserved', 'reserved-idle') and from_ms < $2",
                        rows.tenant,
                        start + 3 * HOUR))
                .isEqualTo(4_000 * 3 * HOUR);
    }

    @Test
    void aReplicaThatClosesNoHoursMeasuresTheLag() throws Exception {
        BookRows rows = new BookRows(database, "closing-off");
        rows.reserved(BookRows.hoursAgo(1) + 5 * MINUTE, 1);
        MeterRegistry metrics = new SimpleMeterRegistry();
        MeteringConfig off = closingNothing();
        HourCloser replica = new HourCloser(off, database, new LedgerLag(off, database, metrics));

        replica.start(new StartupEvent());
        try {
            Awaitility.await()
                    .atMost(Duration.ofSeconds(15))
                    .until(() -> metrics.get("quartermaster.ledger.lag").gauge().value() > 0);
        } finally {
            replica.stop(new ShutdownEvent());
        }
    }

    /** The settings of a replica with {@code closing=false} that looks often. */
    private MeteringConfig closingNothing() {
        return (MeteringConfig) Proxy.newProxyInstance(
                MeteringConfig.class.getClassLoader(),
                new Class<?>[] {MeteringConfig.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "closing" -> false;
                    case "closingInterval" -> Duration.ofMillis(10);
                    default -> method.invoke(config, arguments);
                });
    }

    @Test
    void closingAgainChangesNothing() {
        BookRows rows = new BookRows(database, "closing-b");
        long start = BookRows.hoursAgo(2);
        rows.reserved(start + 5 * MINUTE, 1);
        closeUntil(rows, start + HOUR);
        List<SegmentStore.StoredSegment> before = stored(rows);

        closing.closeDue();
        closing.closeDue();

        assertThat(stored(rows)).startsWith(before.toArray(SegmentStore.StoredSegment[]::new));
        assertThat(rows.number(
                        "select count(*) - count(distinct (from_ms, class)) from segment where tenant_id = $1",
                        rows.tenant))
                .isZero();
    }

    @Test
    void anHourStaysOpenForAnEndThatWasToldAndIsNotAppliedYet() {
        BookRows rows = new BookRows(database, "closing-d");
        long start = BookRows.hoursAgo(3);
        UUID node = rows.silentNode(start + 2 * HOUR + 30 * MINUTE);
        UUID attempt = rows.allocated(start + 10 * MINUTE, 1);
        UUID other = rows.allocated(start + 10 * MINUTE, 1);
        rows.runsOn(node, attempt);
        rows.runsOn(node, other);
        rows.workEnded(node, attempt, start + 20 * MINUTE);

        closing.closeDue();
        assertThat(rows.number("select count(*) from closed_hour where tenant_id = $1", rows.tenant))
                .isZero();

        rows.phase(start + 80 * MINUTE, attempt, "ended", start + 20 * MINUTE);
        rows.freed(start + 80 * MINUTE, attempt);
        closeUntil(rows, start + 2 * HOUR);
        rows.freed(start + 2 * HOUR + 31 * MINUTE, other);
        rows.givenUp(node);

        assertThat(stored(rows).stream()
                        .map(each -> each.segment())
                        .filter(segment -> segment.held()
                                .orElseThrow()
                                .allocation()
                                .value()
                                .equals(attempt.toString()))
                        .map(segment -> segment.held().orElseThrow().phase().name() + " "
                                + (segment.toMillis() - segment.fromMillis()) / MINUTE))
                .containsExactly("STARTING 10", "ENDED 40", "ENDED 20");
    }

    @Test
    void anHourStaysOpenForTheLastWordOfASilentNode() {
        BookRows rows = new BookRows(database, "closing-c");
        long start = BookRows.hoursAgo(3);
        UUID node = rows.silentNode(start + 20 * MINUTE);
        UUID attempt = rows.allocated(start + 10 * MINUTE, 2);
        rows.phase(start + 11 * MINUTE, attempt, "running", start + 11 * MINUTE);

        closing.closeDue();
        assertThat(rows.number("select count(*) from closed_hour where tenant_id = $1", rows.tenant))
                .isZero();

        // The node is given up an hour later; whether the work ran after the last contact is unknown.
        rows.phase(start + 80 * MINUTE, attempt, "out-of-contact", start + 20 * MINUTE);
        rows.freed(start + 80 * MINUTE, attempt);
        rows.givenUp(node);
        closeUntil(rows, start + 2 * HOUR);

        assertThat(stored(rows))
                .extracting(each -> each.segment().held().orElseThrow().phase().name() + " "
                        + (each.segment().toMillis() - each.segment().fromMillis()) / MINUTE)
                .containsExactly("STARTING 1", "RUNNING 9", "OUT_OF_CONTACT 40", "OUT_OF_CONTACT 20");
    }

    @Test
    void aBacklogOfDaysClosesAndOnlyTheBooksOfTheLastDayAreKept() {
        List<BookRows> all = Stream.of("closing-days-a", "closing-days-b", "closing-days-c")
                .map(tenant -> new BookRows(database, tenant))
                .toList();
        long start = BookRows.hoursAgo(80);
        all.forEach(rows -> rows.together(() -> {
            rows.reserved(start, 4);
            UUID running = rows.allocated(start + 10 * MINUTE, 3);
            for (int day = 0; day < 3; day++) {
                UUID attempt = rows.allocated(start + day * 24 * HOUR + 20 * MINUTE, 2);
                // The loss of a node reaches back by most of a day.
                rows.phase(
                        start + (day + 1) * 24 * HOUR,
                        attempt,
                        "out-of-contact",
                        start + day * 24 * HOUR + 50 * MINUTE);
                rows.freed(start + (day + 1) * 24 * HOUR, attempt);
            }
            rows.freed(start + 79 * HOUR, running);
        }));

        all.forEach(rows -> closeUntil(rows, start + 79 * HOUR));

        assertThat(all).allSatisfy(rows -> {
            long newest = rows.number("select max(hour_ms) from closed_hour where tenant_id = $1", rows.tenant);
            assertThat(rows.number("select count(*) from closed_hour where tenant_id = $1", rows.tenant))
                    .isEqualTo((newest - start) / HOUR);
            assertThat(rows.run(
                            "select hour_ms from closed_hour where tenant_id = $1 and state is not null "
                                    + "and hour_ms <= $2 and extract(day from to_timestamp(hour_ms / 1000) "
                                    + "at time zone 'UTC') <> 1",
                            rows.tenant,
                            newest - 24 * HOUR))
                    .isEmpty();
            assertThat(rows.number(
                            "select count(*) from closed_hour where tenant_id = $1 and state is not null "
                                    + "and hour_ms > $2",
                            rows.tenant,
                            newest - 24 * HOUR))
                    .isEqualTo(24);
        });
        assertThat(all).allSatisfy(rows -> {
            AuditApi.View whole = audit(rows, null);
            assertThat(whole.violations()).isEmpty();
            assertThat(whole.tenants().getFirst().closedHours()).isGreaterThanOrEqualTo(79);
            AuditApi.View part = audit(rows, Instant.ofEpochMilli(start + 30 * HOUR));
            assertThat(part.violations()).isEmpty();
            assertThat(part.tenants().getFirst().closedHours())
                    .isEqualTo(whole.tenants().getFirst().closedHours() - 30);
        });
    }

    private AuditApi.View audit(BookRows rows, @Nullable Instant from) {
        return audits.audit(new AuditApi.Request(new TenantId(rows.tenant), from, null));
    }

    @Test
    void theServiceCanForgetABookAndNotChangeIt() {
        BookRows rows = new BookRows(database, "closing-forget");
        long start = BookRows.hoursAgo(3);
        rows.reserved(start, 1);
        closeUntil(rows, start + 2 * HOUR);

        assertThatThrownBy(() -> rows.run(
                        "update closed_hour set state = jsonb_set(state, '{seq}', '0') where tenant_id = $1",
                        rows.tenant))
                .hasMessageContaining("the book of a closed hour never changes");
        assertThatThrownBy(() ->
                        rows.run("update closed_hour set records = records + 1 where tenant_id = $1", rows.tenant))
                .hasMessageContaining("permission denied");
        rows.run(
                "update closed_hour set state = null where tenant_id = $1 and hour_ms = $2", rows.tenant, start + HOUR);
        assertThat(audit(rows, null).violations()).isEmpty();
    }

    @Test
    void anHourIsClosedWithALookAtItsOwnEventsAloneHoweverManyFollow() {
        BookRows rows = new BookRows(database, "closing-backlog");
        long start = BookRows.hoursAgo(3);
        long base =
                rows.number("update cell set sequence = sequence + 30001 where id = 'main' returning sequence - 30001");
        rows.run("""
                insert into usage_event (seq, cell_id, tenant_id, at_ms, kind, pool_id, pool, gpu_milli)
                select $5::bigint + n, 'main', $1, $2::bigint + case when n = 0 then 0 else 3600000 + n end,
                       'tenant-reserved', $3, $4, 1000 + n
                  from generate_series(0, 30000) n
                """, rows.tenant, start, rows.pool, rows.poolName(), base + 1);

        JsonObject plan = database.run(Duration.ofSeconds(20), tx -> {
            tx.run("set local plan_cache_mode = force_generic_plan");
            tx.run("prepare last_events (text, bigint, bigint, bigint) as " + HourClosing.LAST_EVENTS);
            try {
                return new JsonArray(tx.run("explain (analyze, buffers, format json) execute last_events ('"
                                        + rows.tenant + "', 0, " + (start + HOUR) + ", 20000)")
                                .iterator()
                                .next()
                                .getValue(0)
                                .toString())
                        .getJsonObject(0)
                        .getJsonObject("Plan");
            } finally {
                tx.run("deallocate last_events");
            }
        });

        assertThat(plan.getInteger("Shared Hit Blocks") + plan.getInteger("Shared Read Blocks"))
                .as("blocks, of several hundred that the backlog has")
                .isLessThan(20);
        closeUntil(rows, start + 2 * HOUR);
        assertThat(audit(rows, null).violations()).isEmpty();
    }
}
