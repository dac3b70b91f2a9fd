package io.quartermaster.access.audit;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.notNullValue;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.path.json.JsonPath;
import jakarta.inject.Inject;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The audit entries that tenant admins and the operator can read. */
@QuarkusTest
class AuditEntryReaderIT {

    private static final String A = "entries-a";
    private static final String B = "entries-b";
    private static final String LIST = "/v1/tenants/" + A + "/audit-entries";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Inject
    AuditSealer sealer;

    @BeforeAll
    static void twoTenantsAndSomeChanges() {
        TestTenants.provision(A, B);
        for (String group : List.of("/one", "/one/two", "/three")) {
            request(adminToken(A))
                    .body(Map.of("path", group))
                    .post("/v1/tenants/" + A + "/groups")
                    .then()
                    .statusCode(201);
        }
    }

    @Test
    void entriesComeNewestFirstAndEachNamesTheOneBeforeByItsHash() {
        sealer.sealAll().await().atMost(PATIENCE);

        JsonPath page = list(Map.of());

        assertThat(page.getList("items.resource", String.class))
                .containsExactly("groups/three", "groups/one/two", "groups/one", "tenants/" + A);
        assertThat(page.getList("items.actorRealm", String.class)).containsExactly(A, A, A, "operator");
        assertThat(page.getList("items.sequence", Integer.class)).containsExactly(4, 3, 2, 1);
        List<String> hashes = page.getList("items.hash", String.class);
        assertThat(page.getList("items.previousHash", String.class))
                .containsExactly(hashes.get(1), hashes.get(2), hashes.get(3), "");
        assertThat(page.getString("items[0].after.path")).isEqualTo("/three");
    }

    @Test
    void listIsNarrowedByWhoWhatAndWhen() {
        assertThat(resources(Map.of("actor", "admin"))).hasSize(3);
        assertThat(resources(Map.of("actor", "nobody"))).isEmpty();
        assertThat(resources(Map.of("action", "tenants:create"))).containsExactly("tenants/" + A);
        assertThat(resources(Map.of("resource", "groups/one"))).containsExactly("groups/one/two", "groups/one");
        assertThat(resources(Map.of("from", Instant.now().plusSeconds(60).toString())))
                .isEmpty();
        assertThat(resources(Map.of("to", Instant.now().plusSeconds(60).toString())))
                .hasSize(4);
        request(adminToken(A))
                .queryParam("from", "yesterday")
                .get(LIST)
                .then()
                .statusCode(400)
                .body("errors.field", contains("from"));
    }

    @Test
    void pagesMeetWithoutGapOrOverlap() {
        List<String> found = new ArrayList<>();
        Map<String, String> query = Map.of("pageSize", "3");
        JsonPath page = list(query);
        found.addAll(page.getList("items.resource", String.class));
        page = list(Map.of("pageSize", "3", "pageToken", page.getString("nextPageToken")));
        found.addAll(page.getList("items.resource", String.class));

        assertThat(found).containsExactly("groups/three", "groups/one/two", "groups/one", "tenants/" + A);
        assertThat(page.getString("nextPageToken")).isNull();
    }

    @Test
    void onlyThoseWithTheRightReadAndOnlyTheirOwn() {
        request(viewerToken(A)).get(LIST).then().statusCode(403).body("detail", containsString("audit:read"));
        request(adminToken(B)).get(LIST).then().statusCode(404);
        request(operatorToken()).get(LIST).then().statusCode(200).body("items.resource", everyItem(notNullValue()));
        request(adminToken(A)).get("/v1/operator/audit-entries").then().statusCode(404);
        request(operatorToken())
                .queryParam("resource", "groups/one")
                .get("/v1/operator/audit-entries")
                .then()
                .statusCode(200)
                .body("items", empty());
    }

    private static List<String> resources(Map<String, String> query) {
        return list(query).getList("items.resource", String.class);
    }

    private static JsonPath list(Map<String, String> query) {
        return request(adminToken(A))
                .queryParams(query)
                .get(LIST)
                .then()
                .statusCode(200)
                .extract()
                .jsonPath();
    }
}
