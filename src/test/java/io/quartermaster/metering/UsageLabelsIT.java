package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.metering.BookRows.MINUTE;
import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.ledger.LabelState;
import io.quartermaster.metering.audit.AuditApi;
import io.quartermaster.metering.audit.AuditService;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.Response;
import io.vertx.core.json.JsonObject;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import org.assertj.core.groups.Tuple;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Usage by the labels that a tenant declares: the same from open hours, segments and sums, and never a guess. */
@QuarkusTest
class UsageLabelsIT {

    private static final long THOUSANDTHS = 1_000;

    @Inject
    SystemDatabase database;

    @Inject
    HourCloser closing;

    @Inject
    UsageService usage;

    @Inject
    AuditService audits;

    private final long start = BookRows.hoursAgo(4);

    private UsageRequest question(long from, long to, String granularity, String... groupBy) {
        UsageRequest request = new UsageRequest();
        request.from = Instant.ofEpochMilli(from).toString();
        request.to = Instant.ofEpochMilli(to).toString();
        request.granularity = granularity;
        request.groupBy = List.of(groupBy);
        request.label = "team";
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

    /**
     * Two GPUs are reserved. From minute 10 on, 1 GPU is held without a declaration and 4 without a team. Team nlp
     * holds 2 until minute 70, and team cv holds 3 until minute 130.
     */
    private BookRows history(String tenant) {
        BookRows rows = new BookRows(database, tenant);
        rows.declare("stage", "team");
        rows.together(() -> {
            rows.reserved(start, 2);
            rows.allocated(start + 10 * MINUTE, 1);
            UUID nlp = rows.allocated(
                    start + 10 * MINUTE, 2, new JsonObject().put("team", "nlp").putNull("stage"));
            UUID cv = rows.allocated(
                    start + 10 * MINUTE,
                    3,
                    new JsonObject().put("team", "cv, \"x\"").put("stage", "test"));
            rows.allocated(
                    start + 10 * MINUTE, 4, new JsonObject().putNull("team").putNull("stage"));
            rows.phase(start + 11 * MINUTE, nlp, "running", start + 11 * MINUTE);
            rows.freed(start + 70 * MINUTE, nlp);
            rows.freed(start + 130 * MINUTE, cv);
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

    private static Tuple row(@Nullable LabelState state, @Nullable String value, long gpus, long minutes) {
        return Tuple.tuple(state, value, Long.toString(gpus * THOUSANDTHS * minutes * MINUTE));
    }

    @Test
    void usageByLabelIsTheSameBeforeAndAfterItsHoursClose() {
        BookRows rows = new BookRows(database, "labels-open");
        UUID node = rows.silentNode(start);
        rows.declare("team");
        rows.together(() -> {
            rows.reserved(start, 20);
            rows.allocated(start + 10 * MINUTE, 1);
            rows.allocated(start + 10 * MINUTE, 2, new JsonObject().put("team", "nlp"));
            rows.allocated(start + 20 * MINUTE, 3, new JsonObject().putNull("team"));
            rows.allocated(start + 30 * MINUTE, 4, new JsonObject().put("stage", "test"));
        });
        UsageRequest request = question(start, start + 2 * HOUR, "total", "label");

        UsageApi.View open = ask(rows, request);
        rows.givenUp(node);
        closeUntil(rows, start + 2 * HOUR);
        UsageApi.View closed = ask(rows, request);

        assertThat(open.complete()).isFalse();
        assertThat(closed.complete()).isTrue();
        assertThat(closed.rows()).isEqualTo(open.rows());
        assertThat(closed.totals()).isEqualTo(open.totals());
        assertThat(closed.label()).isEqualTo("team");
        assertThat(closed.rows())
                .extracting(UsageApi.Row::labelState, UsageApi.Row::labelValue, row -> row.totals()
                        .held()
                        .gpuMilliMillis())
                .containsExactly(
                        row(null, null, 0, 0),
                        row(LabelState.SET, "nlp", 2, 110),
                        row(LabelState.UNDECLARED, null, 1 * 110 + 4 * 90, 1),
                        row(LabelState.UNSET, null, 3, 100));
    }

    @Test
    void sumsOfHoursGiveTheFiguresOfTheirSegments() {
        BookRows rows = history("labels-sums");
        closeUntil(rows, start + 3 * HOUR);
        List<UsageRequest> requests = new ArrayList<>();
        for (List<String> groupBy : List.of(
                List.of("label"), List.of("label", "user"), List.of("group", "label", "class"), List.of("queue"))) {
            for (String granularity : List.of("total", "hour", "day")) {
                for (long cut : List.of(0L, 25 * MINUTE)) {
                    for (List<String> values : List.of(List.<String>of(), List.of("nlp", "cv, \"x\""))) {
                        if (groupBy.contains("label") || !values.isEmpty()) {
                            UsageRequest request = question(
                                    start + cut, start + 3 * HOUR - cut, granularity, groupBy.toArray(String[]::new));
                            request.labelValue = values;
                            request.timeZone = granularity.equals("day") ? "Asia/Kolkata" : null;
                            requests.add(request);
                        }
                    }
                }
            }
        }
        List<UsageApi.View> fromSums =
                requests.stream().map(request -> ask(rows, request)).toList();
        List<String> sums = sums(rows);

        Superuser.run("with gone as (delete from usage_hour where tenant_id = 'labels-sums'), "
                + "also as (delete from usage_label_hour where tenant_id = 'labels-sums') "
                + "update closed_hour set summed = false where tenant_id = 'labels-sums'");
        List<UsageApi.View> fromSegments =
                requests.stream().map(request -> ask(rows, request)).toList();
        closing.addMissingSums();

        assertThat(fromSums).extracting(UsageApi.View::rows).doesNotContain(List.of());
        for (int i = 0; i < requests.size(); i++) {
            assertThat(fromSums.get(i).rows())
                    .as("%s %s", requests.get(i).groupBy, requests.get(i).granularity)
                    .isEqualTo(fromSegments.get(i).rows());
            assertThat(fromSums.get(i).totals()).isEqualTo(fromSegments.get(i).totals());
        }
        assertThat(sums(rows)).isEqualTo(sums).isNotEmpty();
    }

    private static List<String> sums(BookRows rows) {
        return rows
                .run(
                        "select usage_label_hour::text from usage_label_hour where tenant_id = $1 and hour_ms <= $2 "
                                + "order by 1",
                        rows.tenant,
                        BookRows.hoursAgo(1))
                .stream()
                .map(row -> row.getString(0))
                .toList();
    }

    @Test
    void aFilterCountsOnlyWorkWithOneOfTheValues() {
        BookRows rows = history("labels-filter");
        closeUntil(rows, start + 3 * HOUR);
        UsageRequest request = question(start, start + 3 * HOUR, "total", "class");
        request.labelValue = List.of("nlp", "no such team");
        UsageRequest byPhase = question(start, start + 3 * HOUR, "total", "phase");
        byPhase.labelValue = List.of("nlp");

        assertThat(ask(rows, request).totals().held().gpuMilliMillis())
                .isEqualTo(Long.toString(2 * THOUSANDTHS * 60 * MINUTE));
        assertThat(ask(rows, request).totals().reservedIdle().gpuMilliMillis()).isEqualTo("0");
        assertThat(ask(rows, byPhase).rows())
                .extracting(row -> row.totals().held().gpuMilliMillis())
                .containsExactly(Long.toString(2 * THOUSANDTHS * 59 * MINUTE), Long.toString(2 * THOUSANDTHS * MINUTE));
    }

    @Test
    void wholeHoursAreReadFromTheirSums() {
        BookRows rows = history("labels-from-sums");
        closeUntil(rows, start + 3 * HOUR);
        UsageRequest request = question(start, start + 3 * HOUR, "total", "label");
        String before = held(ask(rows, request), row -> "nlp".equals(row.labelValue()));

        // Another sum than the segments give, so that the answer shows its source.
        Superuser.run("update usage_label_hour set gpu_milli_ms = gpu_milli_ms + 7 where tenant_id = "
                + "'labels-from-sums' and label_value = 'nlp' and class = 'reserved' and hour_ms = " + (start + HOUR));

        assertThat(held(ask(rows, request), row -> "nlp".equals(row.labelValue())))
                .isNotEqualTo(before);
    }

    private static String held(UsageApi.View view, Predicate<UsageApi.Row> which) {
        return view.rows().stream()
                .filter(which)
                .map(row -> row.totals().held().gpuMilliMillis())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void anAuditFindsChangedLabelsAndChangedSums() {
        BookRows rows = history("labels-audit");
        closeUntil(rows, start + 3 * HOUR);
        assertThat(rules(rows)).isEmpty();

        Superuser.run("update usage_label_hour set label_value = 'cv' where tenant_id = 'labels-audit' and "
                + "label_key = 'team' and label_value is null and hour_ms = " + (start + HOUR));
        assertThat(rules(rows)).containsOnly("sums-equal-segments").hasSize(2);
        Superuser.run("delete from usage_label_hour where tenant_id = 'labels-audit' and label_value = 'cv' and "
                + "hour_ms = " + (start + HOUR));
        assertThat(rules(rows)).containsExactly("sums-equal-segments");

        Superuser.run("update segment set labels = labels || '{\"team\": \"ours\"}' where tenant_id = 'labels-audit' "
                + "and labels ->> 'team' = 'nlp'");
        assertThat(rules(rows)).contains("hash-chain", "segments-follow-from-events", "marks");
        Superuser.run("update segment set labels = null where tenant_id = 'labels-audit' and labels ->> 'team' = "
                + "'ours'");
        assertThat(rules(rows))
                .as("labels that are gone do not make a segment of format 1")
                .contains("readable");
    }

    private List<String> rules(BookRows rows) {
        return audits.audit(new AuditApi.Request(new TenantId(rows.tenant), null, null)).violations().stream()
                .map(AuditApi.Violation::rule)
                .toList();
    }

    @Test
    void aTenantThatDeclaresOnlyATimeZoneHasNoKeys() {
        BookRows rows = new BookRows(database, "labels-none");
        rows.declare();

        assertThatThrownBy(() -> ask(rows, question(start, start + HOUR, "total", "label")))
                .isInstanceOfSatisfying(ProblemException.class, refused -> {
                    assertThat(refused.problem().code()).isEqualTo("unknown-label-key");
                    assertThat(refused.problem().errors())
                            .singleElement()
                            .satisfies(error -> assertThat(error.accepted()).contains("no key was declared"));
                });
    }

    @Test
    void exportsHaveTheLabels() {
        BookRows rows = history("labels-export");
        closeUntil(rows, start + HOUR);
        String path = "/v1/operator/usage/export?tenant=" + rows.tenant + "&from=" + Instant.ofEpochMilli(start)
                + "&to=" + Instant.ofEpochMilli(start + HOUR);

        List<Object> labels = request(operatorToken())
                .get(path + "&format=jsonl")
                .asString()
                .lines()
                .map(line -> new JsonObject(line).getValue("labels"))
                .distinct()
                .toList();
        Response csv = request(operatorToken()).get(path);

        assertThat(labels)
                .containsExactlyInAnyOrder(
                        null,
                        new JsonObject().putNull("stage").put("team", "nlp"),
                        new JsonObject().put("stage", "test").put("team", "cv, \"x\""),
                        new JsonObject().putNull("stage").putNull("team"));
        assertThat(csv.asString().lines().findFirst().orElseThrow()).endsWith(",labels");
        assertThat(csv.asString()).contains(",\"{\"\"stage\"\":null,\"\"team\"\":\"\"nlp\"\"}\"\r\n");
    }

    @Test
    void aTenantDeclaresItsKeysAndAsksOnlyForThose() {
        TestTenants.provision("labels-api");
        String path = "/v1/tenants/labels-api/usage-settings";
        String usagePath = "/v1/tenants/labels-api/usage?groupBy=label&label=team";
        Map<String, Object> body = Map.of("labelKeys", List.of("team", "stage"), "timeZone", "Europe/Berlin");
        request(viewerToken("labels-api"))
                .get(path)
                .then()
                .statusCode(200)
                .header("ETag", equalTo("\"0\""))
                .body("labelKeys", equalTo(List.of()))
                .body("timeZone", equalTo("UTC"));
        request(viewerToken("labels-api"))
                .get(usagePath)
                .then()
                .statusCode(422)
                .body("code", equalTo("unknown-label-key"))
                .body("errors.field", contains("label"));

        request(viewerToken("labels-api"))
                .header("If-Match", "\"0\"")
                .body(body)
                .put(path)
                .then()
                .statusCode(403);
        request(adminToken("labels-api")).body(body).put(path).then().statusCode(428);
        request(adminToken("labels-api"))
                .header("If-Match", "\"0\"")
                .body(Map.of("labelKeys", List.of("team", "no spaces"), "timeZone", "Middle/Earth"))
                .put(path)
                .then()
                .statusCode(400)
                .body("errors.field", contains("timeZone", "labelKeys[1]"));
        request(adminToken("labels-api"))
                .header("If-Match", "\"0\"")
                .queryParam("dryRun", true)
                .body(body)
                .put(path)
                .then()
                .statusCode(200);
        request(viewerToken("labels-api")).get(path).then().header("ETag", equalTo("\"0\""));
        request(adminToken("labels-api"))
                .header("If-Match", "\"0\"")
                .body(body)
                .put(path)
                .then()
                .statusCode(200)
                .header("ETag", equalTo("\"1\""))
                .body("labelKeys", contains("stage", "team"));
        request(adminToken("labels-api"))
                .header("If-Match", "\"0\"")
                .body(body)
                .put(path)
                .then()
                .statusCode(412);
        request(adminToken("labels-api"))
                .header("If-Match", "\"1\"")
                .body(body)
                .put(path)
                .then()
                .statusCode(200)
                .header("ETag", equalTo("\"1\""));
        request(adminToken("labels-api"))
                .header("If-Match", "\"1\"")
                .body(Map.of("labelKeys", List.of("stage"), "timeZone", "Europe/Berlin"))
                .put(path)
                .then()
                .statusCode(200)
                .body("earlierLabelKeys", contains("team"));
        request(adminToken("labels-api"))
                .get("/v1/tenants/labels-api/audit-entries?action=usage-settings:replace")
                .then()
                .statusCode(200)
                .body("items.after.labelKeys", equalTo(List.of(List.of("stage"), List.of("stage", "team"))));

        request(viewerToken("labels-api"))
                .get(usagePath + "&granularity=month")
                .then()
                .statusCode(200)
                .body("timeZone", equalTo("Europe/Berlin"))
                .body("label", equalTo("team"))
                .body("rows", equalTo(List.of()));
        request(viewerToken("labels-api"))
                .get("/v1/tenants/labels-api/usage")
                .then()
                .statusCode(200)
                .body("timeZone", nullValue())
                .body("label", nullValue());
    }

    @Test
    void whatAQuestionAboutLabelsMustNotSayIsRefusedByItsField() {
        assertRefused("groupBy=label", "label");
        assertRefused("labelValue=x", "label");
        assertRefused("label=team", "label");
        assertRefused("label=no spaces&groupBy=label", "label");
        assertRefused("label=team&labelValue=" + "x".repeat(257), "labelValue");
        assertRefused("label=team" + "&labelValue=x".repeat(21), "labelValue");
        assertRefused("timeZone=Europe/Berlin", "timeZone");
        assertRefused("granularity=day&timeZone=Middle/Earth", "timeZone");
        assertRefused("granularity=fortnight", "granularity");
    }

    private static void assertRefused(String query, String field) {
        request(operatorToken())
                .get("/v1/operator/usage?" + query)
                .then()
                .statusCode(400)
                .body("errors.field", contains(field));
    }
}
