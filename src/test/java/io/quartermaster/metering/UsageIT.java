package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Usage is the same for every caller, and whether its hours are closed or open. */
@QuarkusTest
class UsageIT {

    @Inject
    SystemDatabase database;

    @Inject
    HourCloser closing;

    @Inject
    UsageService usage;

    private static UsageRequest request(long from, long to, String granularity, String... groupBy) {
        UsageRequest request = new UsageRequest();
        request.from = Instant.ofEpochMilli(from).toString();
        request.to = Instant.ofEpochMilli(to).toString();
        request.granularity = granularity;
        request.groupBy = List.of(groupBy);
        return request;
    }

    private UsageApi.View ask(BookRows rows, UsageRequest request) {
        try {
            return VertxContextSupport.subscribeAndAwait(
                    () -> usage.reportForTenant(new TenantId(rows.tenant), request));
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Two hours ago: 4 reserved; 6 held from minute 10 to minute 70. */
    private static void history(BookRows rows, long start) {
        rows.reserved(start, 4);
        rows.policyReserved(start, 2);
        UUID attempt = rows.allocated(start + 10 * MINUTE, 6);
        rows.phase(start + 11 * MINUTE, attempt, "running", start + 11 * MINUTE);
        rows.freed(start + 70 * MINUTE, attempt);
    }

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

    @Test
    void figuresAreTheSameBeforeAndAfterTheirHoursClose() {
        BookRows rows = new BookRows(database, "usage-a");
        long start = BookRows.hoursAgo(3);
        // A silent node keeps the hours open at first.
        UUID node = rows.silentNode(start);
        history(rows, start);
        UsageRequest request =
                request(start + 5 * MINUTE, start + 2 * HOUR - 5 * MINUTE, "hour", "class,phase", "policy");

        UsageApi.View open = ask(rows, request);
        rows.givenUp(node);
        closeUntil(rows, start + 2 * HOUR);
        UsageApi.View closed = ask(rows, request);

        assertThat(open.complete()).isFalse();
        assertThat(closed.complete()).isTrue();
        assertThat(closed.rows()).isEqualTo(open.rows()).isNotEmpty();
        assertThat(closed.totals()).isEqualTo(open.totals());
        assertThat(closed.totals().reserved().gpuHours()).isEqualTo("4");
        assertThat(closed.totals().onDemand().gpuHours()).isEqualTo("2");
        assertThat(closed.totals().within().gpuHours()).isEqualTo("2");
        assertThat(closed.totals().reservedIdle().gpuMilliMillis()).isEqualTo("" + 4_000 * (110 - 60) * MINUTE);
        assertThat(closed.rows()).filteredOn(row -> row.policy() != null).allSatisfy(row -> assertThat(row.policyName())
                .isEqualTo("research"));
    }

    @Test
    void sumsOfHoursGiveTheFiguresOfTheirSegments() {
        BookRows rows = new BookRows(database, "usage-sums");
        long start = BookRows.hoursAgo(6);
        rows.together(() -> {
            history(rows, start);
            UUID other = rows.allocated(start + 100 * MINUTE, 5);
            rows.freed(start + 200 * MINUTE, other);
        });
        closeUntil(rows, start + 5 * HOUR);
        List<UsageRequest> requests = new ArrayList<>();
        for (String groupBy : List.of("group", "pool,queue", "user,class,standing", "")) {
            for (String granularity : List.of("total", "hour")) {
                for (long cut : List.of(0L, 5 * MINUTE, 59 * MINUTE, 150 * MINUTE)) {
                    requests.add(
                            groupBy.isEmpty()
                                    ? request(start + cut, start + 5 * HOUR - cut, granularity)
                                    : request(start + cut, start + 5 * HOUR - cut, granularity, groupBy));
                }
            }
        }
        List<UsageApi.View> fromSums =
                requests.stream().map(request -> ask(rows, request)).toList();
        List<String> sums = sums(rows);

        Superuser.run("with gone as (delete from usage_hour where tenant_id = 'usage-sums') "
                + "update closed_hour set summed = false where tenant_id = 'usage-sums'");
        List<UsageApi.View> fromSegments =
                requests.stream().map(request -> ask(rows, request)).toList();
        closing.addMissingSums();

        assertThat(fromSums).extracting(UsageApi.View::rows).contains(List.of()).anyMatch(found -> found.size() > 4);
        assertThat(fromSums)
                .extracting(UsageApi.View::rows, UsageApi.View::totals)
                .containsExactlyElementsOf(fromSegments.stream()
                        .map(view -> org.assertj.core.groups.Tuple.tuple(view.rows(), view.totals()))
                        .toList());
        assertThat(sums(rows)).isEqualTo(sums).isNotEmpty();
    }

    private static List<String> sums(BookRows rows) {
        return rows
                .run(
                        "select usage_hour::text from usage_hour where tenant_id = $1 and hour_ms <= $2 order by 1",
                        rows.tenant,
                        BookRows.hoursAgo(1))
                .stream()
                .map(row -> row.getString(0))
                .toList();
    }

    @Test
    void wholeHoursAreReadFromTheirSums() {
        BookRows rows = new BookRows(database, "usage-from-sums");
        long start = BookRows.hoursAgo(3);
        history(rows, start);
        closeUntil(rows, start + 2 * HOUR);
        UsageRequest request = request(start, start + 2 * HOUR, "total", "group");
        String before = ask(rows, request).totals().onDemand().gpuMilliMillis();

        // Another sum than the segments give, so that the answer shows its source.
        Superuser.run("update usage_hour set gpu_milli_ms = gpu_milli_ms + 7 where tenant_id = 'usage-from-sums' "
                + "and class = 'on-demand' and standing = 'over-quota' and hour_ms = " + (start + HOUR));

        assertThat(ask(rows, request).totals().onDemand().gpuMilliMillis())
                .isEqualTo(Long.toString(Long.parseLong(before) + 7));
        assertThat(ask(rows, request(start, start + 2 * HOUR, "total", "workload"))
                        .totals()
                        .onDemand()
                        .gpuMilliMillis())
                .isEqualTo(before);
    }

    @Test
    void whatRunsNowIsCountedUpToTheStamp() {
        BookRows rows = new BookRows(database, "usage-b");
        long start = BookRows.hoursAgo(1);
        rows.allocated(start, 1);
        closing.closeDue();

        UsageApi.View view = ask(rows, request(start, System.currentTimeMillis() + HOUR, "total", "group"));

        assertThat(view.complete()).isFalse();
        assertThat(view.asOf()).isBeforeOrEqualTo(Instant.now());
        assertThat(view.totals().held().gpuMilliMillis())
                .isEqualTo("" + 1_000 * (view.asOf().toEpochMilli() - start));
        assertThat(view.rows()).singleElement().satisfies(row -> assertThat(row.group())
                .isEqualTo("/research"));
    }

    @Test
    void operatorAndTenantReadTheSameAndTenantsSeeOnlyTheirOwn() {
        BookRows one = new BookRows(database, "usage-c");
        BookRows other = new BookRows(database, "usage-d");
        long start = BookRows.hoursAgo(3);
        history(one, start);
        closeUntil(one, start + 2 * HOUR);
        UsageRequest request = request(start, start + 2 * HOUR, "total", "pool");

        UsageApi.View ofTenant = ask(one, request);
        UsageApi.View ofOther = ask(other, request);
        UsageApi.View ofOperator = usage.reportForTenants(
                        Optional.of(new TenantId("usage-c")), request, new PageRequest())
                .await()
                .indefinitely()
                .items()
                .getFirst();

        assertThat(ofOperator).isEqualTo(ofTenant);
        assertThat(ofOther.rows()).isEmpty();
    }

    @Test
    void operatorsPagesOfTheRunningMonthHaveOneWindow() {
        for (String tenant : List.of("usage-e", "usage-f", "usage-g")) {
            new BookRows(database, tenant);
        }
        List<String> tenants = new ArrayList<>();
        Set<String> windows = new HashSet<>();
        String next = "";
        do {
            Response page = TestTenants.request(operatorToken())
                    .queryParam("pageSize", 2)
                    .queryParam("pageToken", next)
                    .get("/v1/operator/usage");
            page.then().statusCode(200);
            tenants.addAll(page.path("items.tenant"));
            List<Map<String, Object>> items = page.path("items");
            items.forEach(item -> windows.add(item.get("from") + " " + item.get("to")));
            next = page.path("nextPageToken");
        } while (next != null);

        assertThat(tenants).contains("usage-e", "usage-f", "usage-g").doesNotHaveDuplicates();
        assertThat(windows).as("all pages are of the window of the first").hasSize(1);
    }

    @Test
    void aTokenOfOtherUsageIsRefused() {
        for (String tenant : List.of("usage-h", "usage-i")) {
            new BookRows(database, tenant);
        }
        String next = TestTenants.request(operatorToken())
                .queryParam("pageSize", 1)
                .get("/v1/operator/usage")
                .path("nextPageToken");

        TestTenants.request(operatorToken())
                .queryParam("pageToken", next)
                .queryParam("groupBy", "pool")
                .get("/v1/operator/usage")
                .then()
                .statusCode(400);
        TestTenants.request(operatorToken())
                .queryParam("pageToken", next)
                .queryParam("from", "2026-01-01T00:00:00Z")
                .get("/v1/operator/usage")
                .then()
                .statusCode(400);
    }
}
