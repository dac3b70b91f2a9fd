package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasSize;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.response.ValidatableResponse;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lists, counts and cancellations of the workloads that match a filter. */
@QuarkusTest
class WorkloadSearchIT extends TwoTenantsWork {

    private static String held(String name, Map<String, String> labels, int priority) {
        return request(member())
                .body(with(with(with(training(rnd, name), "labels", labels), "hold", true), "priority", priority))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
    }

    private static ValidatableResponse list(Map<String, ?> query) {
        return request(member()).queryParams(query).get(WORKLOADS).then().statusCode(200);
    }

    @Test
    void aListHasOnlyWorkWithAllGivenLabels() {
        String one = held("labels-1", Map.of("team", "search", "run", "a=b"), 1);
        String two = held("labels-2", Map.of("team", "search"), 1);
        held("labels-3", Map.of("team", "other-search"), 1);

        list(Map.of("label", "team=search")).body("items.id", contains(two, one));
        list(Map.of("label", List.of("team=search", "run=a=b"))).body("items.id", contains(one));
        list(Map.of("label", List.of("team=search", "run"))).body("items.id", contains(one));
        list(Map.of("label", "team=", "name", "labels-")).body("items", empty());
        list(Map.of("label", "team", "name", "labels-")).body("items", hasSize(3));
        request(memberToken(B, "rnd-member"))
                .queryParam("label", "team=search")
                .get("/v1/tenants/" + B + "/workloads")
                .then()
                .statusCode(200)
                .body("items", empty());

        String version = get(one).header("ETag");
        request(member())
                .header("If-Match", version)
                .body(Map.of("labels", Map.of("team", "moved")))
                .patch(WORKLOADS + "/" + one)
                .then()
                .statusCode(200)
                .body("labels.run", equalTo("a=b"));
        list(Map.of("label", "team=search")).body("items.id", contains(two));
        list(Map.of("label", "team=moved")).body("items.id", contains(one));
    }

    @Test
    void eachFilterLeavesOutWhatDoesNotMatch() {
        endAll();
        Instant before = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        String id = held("filtered", Map.of(), 7);
        String small1 = request(member())
                .body(training(small, "filtered-small"))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        dispatcher.wake();
        rows.run(
                "update workload set reason_code = 'LIMIT' where id = $1 and reason_code is null",
                UUID.fromString(small1));

        for (Map<String, String> found : List.of(
                Map.of("state", "held"),
                Map.of("queue", rnd),
                Map.of("pool", "workloads"),
                Map.of("submittedBy", "rnd-member"),
                Map.of("submittedFrom", before.toString()))) {
            assertThat(list(found).extract().<List<String>>path("items.id"))
                    .as("%s", found)
                    .contains(id);
        }
        for (Map<String, String> missed : List.of(
                Map.of("state", "running,failed"),
                Map.of("queue", devops),
                Map.of("group", "/rnd/small"),
                Map.of("pool", "no-such-pool"),
                Map.of("reason", "LIMIT,NO_CAPACITY"),
                Map.of("submittedBy", "devops-member"),
                Map.of("submittedUntil", before.toString()))) {
            assertThat(list(missed).extract().<List<String>>path("items.id"))
                    .as("%s", missed)
                    .doesNotContain(id);
        }
        list(Map.of("reason", "LIMIT", "state", "waiting"))
                .body("items.reason", everyItem(equalTo("LIMIT")))
                .body("items.id", contains(small1));
        endAll();
    }

    @Test
    void aListInAnyOrderContinuesAfterItsPage() {
        endAll();
        List<String> ids = new ArrayList<>();
        for (int priority : List.of(3, 1, 2, 3)) {
            ids.add(held("sorted", Map.of("sorted", "yes"), priority));
        }
        assertThat(paged("submitted", "asc")).containsExactlyElementsOf(ids);
        assertThat(paged("submitted", "desc")).containsExactlyElementsOf(ids.reversed());
        assertThat(paged("priority", "asc")).containsExactly(ids.get(1), ids.get(2), ids.get(0), ids.get(3));
        assertThat(paged("priority", "desc")).containsExactly(ids.get(3), ids.get(0), ids.get(2), ids.get(1));
        assertThat(paged("started", "desc")).isEmpty();

        ids.forEach(TwoTenantsWork::cancel);
        ids.forEach(id -> eventually(id, "cancelled"));
        assertThat(paged("ended", "asc")).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(paged("ended", "asc")).isEqualTo(paged("ended", "desc").reversed());
        assertThat(paged("priority", "asc")).isEmpty();
    }

    private static List<String> paged(String sort, String order) {
        List<String> ids = new ArrayList<>();
        String token = "";
        do {
            var page = list(Map.of(
                            "label", "sorted=yes", "sort", sort, "order", order, "pageSize", "1", "pageToken", token))
                    .extract();
            ids.addAll(page.<List<String>>path("items.id"));
            token = page.path("nextPageToken");
        } while (token != null);
        return ids;
    }

    @Test
    void aCountIsThatOfTheListByState() {
        endAll();
        held("counted", Map.of("counted", "yes"), 1);
        cancel(held("counted", Map.of("counted", "yes"), 1));
        String over = held("counted", Map.of("counted", "yes"), 1);
        cancel(over);
        eventually(over, "cancelled");

        request(viewerToken(A))
                .queryParam("label", "counted=yes")
                .get(WORKLOADS + "/count")
                .then()
                .statusCode(200)
                .body("count", equalTo(3))
                .body("complete", equalTo(true))
                .body("states.held", equalTo(1));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    state          | sleeping       | held, waiting, starting
                    reason         | limit          | LIMIT
                    group          | rnd            | /research/nlp
                    label          | =x             | key=value
                    sort           | size           | submitted, started
                    order          | up             | asc, desc
                    submittedFrom  | yesterday      | ISO-8601
                    name           | ''             | no such parameter
                    queue          | ' '            | no such parameter
                    pool           | ''             | no such parameter
                    submittedBy    | ''             | no such parameter
                    """)
    void aFilterThatIsNoneIsRefusedByNameWithWhatIsAccepted(String parameter, String value, String accepted) {
        request(member())
                .queryParam(parameter, value)
                .get(WORKLOADS)
                .then()
                .statusCode(400)
                .body("errors.field", contains(parameter))
                .body("errors[0].accepted", containsString(accepted));
    }

    @Test
    void aCancellationByFilterEndsWhatTheCallerMayManageAndNamesIt() {
        endAll();
        String mine = held("bulk-mine", Map.of("bulk", "yes"), 1);
        String also = held("bulk-also", Map.of("bulk", "yes"), 1);
        held("bulk-spared", Map.of("bulk", "no"), 1);
        String others = request(memberToken(A, "devops-member"))
                .body(with(with(training(devops, "bulk-others"), "labels", Map.of("bulk", "yes")), "hold", true))
                .post(WORKLOADS)
                .then()
                .statusCode(201)
                .extract()
                .path("id");

        request(member())
                .queryParam("label", "bulk=yes")
                .queryParam("dryRun", true)
                .post(WORKLOADS + "/cancel")
                .then()
                .statusCode(200)
                .body("status", equalTo(200))
                .body("resource.matched", equalTo(2))
                .body("resource.notPermitted", equalTo(1))
                .body("resource.items.id", contains(mine, also));
        list(Map.of("label", "bulk=yes")).body("items.wish", everyItem(equalTo("hold")));

        request(member())
                .header("Idempotency-Key", "bulk-once")
                .queryParam("label", "bulk=yes")
                .post(WORKLOADS + "/cancel")
                .then()
                .statusCode(200)
                .body("matched", equalTo(2))
                .body("cancelled", equalTo(2))
                .body("remaining", equalTo(0))
                .body("notPermitted", equalTo(1))
                .body("items.name", contains("bulk-mine", "bulk-also"))
                .body("items.state", everyItem(equalTo("held")));
        eventually(mine, "cancelled");
        eventually(also, "cancelled");
        assertThat(state(others)).isEqualTo("held");
        list(Map.of("label", "bulk=no", "state", "held")).body("items", hasSize(1));
        request(adminToken(A))
                .queryParam("pageSize", 1)
                .get("/v1/tenants/" + A + "/audit-entries")
                .then()
                .body("items[0].action", equalTo("workloads:cancel"))
                .body("items[0].resource", equalTo("workloads"))
                .body("items[0].after.filter", equalTo("label=bulk=yes"))
                .body("items[0].after.workloads", contains(mine, also));

        request(adminToken(A))
                .queryParam("label", "bulk=yes")
                .queryParam("grace", "PT0S")
                .post(WORKLOADS + "/cancel")
                .then()
                .statusCode(200)
                .body("items.id", contains(others));
        request(member()).post(WORKLOADS + "/cancel").then().statusCode(400).body("errors.field", contains("filter"));
        for (String empty : List.of("name", "queue", "pool", "submittedBy", "label", "state")) {
            request(adminToken(A))
                    .queryParam(empty, "")
                    .post(WORKLOADS + "/cancel")
                    .then()
                    .statusCode(400)
                    .body("errors.field", contains(empty));
        }
        request(adminToken(A))
                .queryParam("label", "bulk=no")
                .queryParam("nmae", "bulk-spared")
                .post(WORKLOADS + "/cancel")
                .then()
                .statusCode(400)
                .body("errors.field", contains("nmae"));
        list(Map.of("label", "bulk=no", "state", "held")).body("items", hasSize(1));
        request(viewerToken(A))
                .queryParam("label", "bulk=yes")
                .post(WORKLOADS + "/cancel")
                .then()
                .statusCode(403);
    }
}
