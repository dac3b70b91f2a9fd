package io.quartermaster.governance;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.notNullValue;
import static org.hamcrest.Matchers.nullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.ValidatableResponse;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Capacity reservations from the API to the running work and the ledger. */
@QuarkusTest
class CapacityReservationsIT {

    private static final String A = "calendar-a";
    private static final String B = "calendar-b";
    private static final String POOL = "calendar";
    private static final String TENANT = "/v1/tenants/" + A;
    private static final String CALENDAR = TENANT + "/capacity-reservations";
    private static final String OPERATORS = "/v1/operator/tenants/" + A + "/capacity-reservations";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Inject
    SystemDatabase database;

    /**
     * Two tenants that share a pool of twenty GPUs, ten reserved for each; no agent runs there, only the engine
     * decides.
     */
    @BeforeAll
    static void twoTenantsShareAPool() {
        TestTenants.provision(A, B);
        request(operatorToken())
                .body(Map.of("name", POOL, "capacity", "20"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        for (String tenant : List.of(A, B)) {
            request(operatorToken())
                    .body(Map.of("reserved", "10", "limit", "10"))
                    .put("/v1/operator/tenants/" + tenant + "/allotments/" + POOL)
                    .then()
                    .statusCode(201);
        }
        request(adminToken(A))
                .body(Map.of("name", "1xgpu", "gpus", "1", "pools", List.of(POOL)))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201);
    }

    private static RequestSpecification admin() {
        return request(adminToken(A));
    }

    private static Map<String, Object> policy(String name, String group, String reserved, String limit) {
        return Map.of(
                "name",
                name,
                "group",
                group,
                "quotas",
                List.of(Map.of("pool", POOL, "reserved", reserved, "limit", limit)),
                "profiles",
                List.of("1xgpu"));
    }

    private static void made(Map<String, Object> policy) {
        admin().body(policy).post(TENANT + "/policies").then().statusCode(201);
    }

    @AfterEach
    void endAll() {
        List<String> workloads = request(adminToken(A))
                .queryParam("pageSize", 500)
                .get(TENANT + "/workloads")
                .path("items.id");
        workloads.forEach(id -> request(adminToken(A)).post(TENANT + "/workloads/" + id + "/cancel"));
        // The windows of groups depend on the tenant's, which were created before them.
        List<String> ids = request(operatorToken())
                .get(OPERATORS)
                .<List<String>>path("items.id")
                .reversed();
        ids.forEach(id ->
                request(operatorToken()).delete(OPERATORS + "/" + id).then().statusCode(204));
        request(operatorToken()).get(OPERATORS).then().body("items", empty());
        List<String> names = admin().get(TENANT + "/policies").path("items.name");
        names.forEach(name -> admin().queryParam("onWaiting", "cancel")
                .delete(TENANT + "/policies/" + name)
                .then()
                .statusCode(200));
    }

    private static Map<String, Object> window(String gpus, Instant from, Instant until) {
        return new HashMap<>(
                Map.of("pool", POOL, "gpus", gpus, "startsAt", from.toString(), "endsAt", until.toString()));
    }

    private static Map<String, Object> of(String policy, Map<String, Object> window) {
        window.put("policy", policy);
        return window;
    }

    private static List<String> submit(String member, String queue, int count) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(request(memberToken(A, member))
                    .body(Map.of(
                            "queue", queue, "name", queue + "-" + i, "type", "training", "command", List.of("true")))
                    .post(TENANT + "/workloads")
                    .then()
                    .statusCode(201)
                    .extract()
                    .path("id"));
        }
        return ids;
    }

    private static long holding(List<String> ids) {
        List<Map<String, Object>> items = request(adminToken(A))
                .queryParam("pageSize", 500)
                .get(TENANT + "/workloads")
                .path("items");
        return items.stream()
                .filter(item -> ids.contains(item.get("id")))
                .filter(item -> List.of("starting", "running").contains(item.get("state")))
                .count();
    }

    private List<Long> levels(String policy) {
        List<Long> levels = new ArrayList<>();
        database.on(connection -> connection.preparedQuery("""
                                select e.gpu_milli from usage_event e join policy p on p.tenant_id = e.tenant_id
                                    and p.id = e.policy_id
                                 where e.kind = 'policy-reserved' and p.tenant_id = $1 and p.name = $2 order by e.seq
                                """).execute(Tuple.of(A, policy)))
                .await()
                .atMost(Duration.ofSeconds(10))
                .forEach(row -> levels.add(row.getLong(0)));
        return levels;
    }

    @Test
    void aWindowTakesBackWhatIsBorrowedWhenItBeginsAndWhatItHeldIsOverQuotaWhenItEnds() {
        made(policy("cal-rnd", "/rnd", "4", "10"));
        made(policy("cal-devops", "/devops", "0", "2"));
        List<String> rnd = submit("rnd-member", "cal-rnd-1xgpu", 10);
        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 10);
        List<String> devops = submit("devops-member", "cal-devops-1xgpu", 4);

        Instant begin = Instant.now().plusSeconds(2);
        String id = request(adminToken(A))
                .body(of("cal-devops", window("4", begin, begin.plusSeconds(600))))
                .post(CALENDAR)
                .then()
                .statusCode(201)
                .body("state", equalTo("planned"))
                .body("gpus", equalTo("4"))
                .extract()
                .path("id");

        Awaitility.await().atMost(PATIENCE).until(() -> holding(devops) == 4 && holding(rnd) == 6);
        assertThat(Instant.now()).isAfterOrEqualTo(begin);
        request(adminToken(A)).get(CALENDAR).then().body("items.state", hasItem("open"));

        request(adminToken(A)).delete(CALENDAR + "/" + id).then().statusCode(204);
        // The GPUs of devops are over-quota now, and R&D has all of the fair share.
        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 10 && holding(devops) == 0);
        assertThat(levels("cal-devops")).endsWith(4_000L, 0L);
        request(adminToken(A))
                .queryParam("over", true)
                .get(CALENDAR)
                .then()
                .body("items.policy", hasItem("cal-devops"));
    }

    @Test
    void anOverrideStandsUntilItsEndForWhoRunsAndForTheBooks() {
        made(policy("over-rnd", "/rnd", "4", "10"));
        List<String> rnd = submit("rnd-member", "over-rnd-1xgpu", 10);
        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 10);
        Instant end = Instant.now().plusSeconds(15);
        Map<String, Object> devops = new HashMap<>(policy("over-devops", "/devops", "2", "2"));
        devops.put(
                "quotas",
                List.of(Map.of(
                        "pool",
                        POOL,
                        "reserved",
                        "2",
                        "limit",
                        "2",
                        "override",
                        Map.of("reserved", "5", "limit", "5", "until", end.toString()))));
        made(devops);
        admin().get(TENANT + "/policies/over-devops").then().body("quotas[0].override.reserved", equalTo("5"));
        List<String> more = submit("devops-member", "over-devops-1xgpu", 5);

        Awaitility.await().atMost(PATIENCE).until(() -> holding(more) == 5 && holding(rnd) == 5);
        assertThat(levels("over-devops")).containsExactly(5_000L);

        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(levels("over-devops"))
                .containsExactly(5_000L, 2_000L));
        assertThat(Instant.now()).isAfterOrEqualTo(end);
        admin().get(TENANT + "/policies/over-devops").then().body("quotas[0].override", nullValue());

        devops.put(
                "quotas",
                List.of(Map.of(
                        "pool", POOL, "reserved", "2", "override", Map.of("limit", "1", "until", end.toString()))));
        admin().header("If-Match", "\"0\"")
                .body(devops)
                .put(TENANT + "/policies/over-devops")
                .then()
                .statusCode(400)
                .body("errors.field", hasItems("quotas[0].override.limit", "quotas[0].override.until"));
    }

    @Test
    void whatIsBeyondALimitIsStoppedAtTheDateOfTheCut() {
        made(policy("drain-rnd", "/rnd", "4", "10"));
        List<String> rnd = submit("rnd-member", "drain-rnd-1xgpu", 5);
        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 5);
        Instant date = Instant.now().plusSeconds(4);
        Map<String, Object> cut = new HashMap<>(policy("drain-rnd", "/rnd", "2", "2"));
        cut.put("quotas", List.of(Map.of("pool", POOL, "reserved", "2", "limit", "2", "drainBy", date.toString())));
        admin().header("If-Match", "\"0\"")
                .body(cut)
                .put(TENANT + "/policies/drain-rnd")
                .then()
                .statusCode(200)
                .body("quotas[0].drainBy", notNullValue())
                .body("effects.warnings[0]", containsString("holds 5 GPUs"));

        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 2);
        assertThat(Instant.now()).isAfterOrEqualTo(date);
        // Its reason comes with the plan after the one that learns that it has ended.
        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> admin().get(TENANT + "/workloads/" + rnd.getLast())
                .then()
                .body("preemptions[0].cause", equalTo("drain"))
                .body("reasons[0].code", equalTo("LIMIT")));

        cut.put("quotas", List.of(Map.of("pool", POOL, "reserved", "2", "drainBy", date.toString())));
        admin().header("If-Match", "\"1\"")
                .body(cut)
                .put(TENANT + "/policies/drain-rnd")
                .then()
                .statusCode(400)
                .body("errors.field", hasItem("quotas[0].limit"));
    }

    @Test
    void aPoolThatPreemptsWhenItClosesSaysWhenItOpens() {
        made(policy("hours-rnd", "/rnd", "4", "10"));
        List<String> rnd = submit("rnd-member", "hours-rnd-1xgpu", 1);
        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 1);
        DayOfWeek dayAfterTomorrow = LocalDate.now(ZoneOffset.UTC).plusDays(2).getDayOfWeek();
        String day = dayAfterTomorrow.name().toLowerCase(Locale.ROOT);

        hours(Map.of("timeZone", "Mars/Base", "open", List.of(Map.of("days", List.of(day), "from", "8", "to", "9"))))
                .statusCode(400)
                .body("errors.field", hasItems("hours.timeZone", "hours.open[0]"));
        hours(Map.of(
                        "timeZone",
                        "UTC",
                        "open",
                        List.of(Map.of("days", List.of(day), "from", "08:00", "to", "09:00")),
                        "atClose",
                        "preempt"))
                .statusCode(200)
                .body("hours.open[0].days[0]", equalTo(day));

        Awaitility.await().atMost(PATIENCE).untilAsserted(() -> admin().get(TENANT + "/workloads/" + rnd.getFirst())
                .then()
                .body("preemptions[0].cause", equalTo("close"))
                .body("reasons[0].code", equalTo("CLOSED"))
                .body("reasons[0].sentence", containsString(" 08:00:00 UTC")));

        hours(Map.of("timeZone", "UTC", "open", List.of())).statusCode(200).body("hours", nullValue());
        Awaitility.await().atMost(PATIENCE).until(() -> holding(rnd) == 1);
    }

    private static ValidatableResponse hours(Map<String, Object> hours) {
        String etag = request(operatorToken()).get("/v1/operator/pools/" + POOL).header("ETag");
        return request(operatorToken())
                .header("If-Match", etag)
                .body(Map.of("hours", hours))
                .patch("/v1/operator/pools/" + POOL)
                .then();
    }

    @Test
    void groupsGetNoMoreThanTheTenantHasAtEachMoment() {
        made(policy("cal-rnd", "/rnd", "8", "10"));
        Instant day = Instant.now().plus(Duration.ofDays(1));
        Instant hour = day.plus(Duration.ofHours(1));

        request(adminToken(A))
                .body(of("cal-rnd", window("4", day, hour)))
                .post(CALENDAR)
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"))
                .body("detail", containsString("12"));

        request(operatorToken())
                .body(window("15", day, hour))
                .post(OPERATORS)
                .then()
                .statusCode(201)
                .body("warnings[0]", containsString("add up to 35"));
        request(adminToken(A))
                .body(of("cal-rnd", window("4", day, hour)))
                .post(CALENDAR)
                .then()
                .statusCode(201);
        request(adminToken(A))
                .body(of("cal-rnd", window("4", day, hour.plusSeconds(1))))
                .post(CALENDAR)
                .then()
                .statusCode(422)
                .body("errors[0].field", equalTo("gpus"));
    }

    @Test
    void whatRestsOnAWindowStandsInTheWayOfItsEndAndOfMoreReservedBeside() {
        made(policy("cal-rnd", "/rnd", "6", "10"));
        made(policy("cal-devops", "/devops", "0", "2"));
        Instant day = Instant.now().plus(Duration.ofDays(1));
        String tenants = request(operatorToken())
                .body(window("2", day, day.plusSeconds(60)))
                .post(OPERATORS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        String groups = request(adminToken(A))
                .body(of("cal-rnd", window("6", day, day.plusSeconds(60))))
                .post(CALENDAR)
                .then()
                .statusCode(201)
                .extract()
                .path("id");

        request(operatorToken())
                .delete(OPERATORS + "/" + tenants)
                .then()
                .statusCode(409)
                .body("errors[0].message", containsString("12"));
        admin().header("If-Match", "\"0\"")
                .body(policy("cal-devops", "/devops", "1", "2"))
                .put(TENANT + "/policies/cal-devops")
                .then()
                .statusCode(422)
                .body("code", equalTo("reservations-do-not-fit"));

        request(adminToken(A)).delete(CALENDAR + "/" + groups).then().statusCode(204);
        request(operatorToken()).delete(OPERATORS + "/" + tenants).then().statusCode(204);
    }

    @Test
    void onlyTheOperatorEndsWhatItGave() {
        Instant day = Instant.now().plus(Duration.ofDays(1));
        String id = request(operatorToken())
                .body(window("1", day, day.plusSeconds(60)))
                .post(OPERATORS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        request(adminToken(A)).delete(CALENDAR + "/" + id).then().statusCode(403);
        request(adminToken(B))
                .get("/v1/tenants/" + B + "/capacity-reservations/" + id)
                .then()
                .statusCode(404);
        request(adminToken(A)).get(CALENDAR + "/" + id).then().statusCode(200).body("gpus", equalTo("1"));
        request(operatorToken()).delete(OPERATORS + "/" + id).then().statusCode(204);
        request(adminToken(A)).get(CALENDAR + "/" + id).then().statusCode(404);
    }

    @Test
    void whatIsWrongWithAWindowIsSaidFieldByField() {
        request(operatorToken())
                .body(Map.of("pool", "no-such", "gpus", "0", "startsAt", "tomorrow", "endsAt", "2020-01-01T00:00:00Z"))
                .post(OPERATORS)
                .then()
                .statusCode(400)
                .body("errors.field", hasItem("gpus"))
                .body("errors.field", hasItem("startsAt"))
                .body("errors.field", hasItem("endsAt"));
        request(operatorToken())
                .body(window("1", Instant.now(), Instant.now().plusSeconds(60)))
                .post("/v1/operator/tenants/never-there/capacity-reservations")
                .then()
                .statusCode(404);
    }

    @Test
    void retiringAPolicyEndsItsWindows() {
        made(policy("cal-rnd", "/rnd", "4", "10"));
        Instant day = Instant.now().plus(Duration.ofDays(1));
        request(adminToken(A))
                .body(of("cal-rnd", window("2", day, day.plusSeconds(60))))
                .post(CALENDAR)
                .then()
                .statusCode(201);
        admin().delete(TENANT + "/policies/cal-rnd").then().statusCode(200);
        request(adminToken(A)).get(CALENDAR).then().body("items", empty());
    }
}
