package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.db.SystemDatabase;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** No route of the contract lets tenant A see or change anything of tenant B. */
@QuarkusTest
class TenantIsolationIT {

    /** Query parameters that name a tenant's resources, by the id of {@link World} that they take. */
    private static final Map<String, String> NAMING = Map.of(
            "queue", "queue", "policy", "policy", "profile", "profile", "moveTo", "queue", "workload", "workload");

    private static World a;
    private static World b;

    @Inject
    SystemDatabase database;

    private Contract contract;
    private Stored stored;

    @BeforeAll
    static void twoTenants() {
        a = World.both().a();
        b = World.both().b();
    }

    @BeforeEach
    void read() {
        contract = Contract.served();
        stored = new Stored(database);
    }

    @Test
    void withoutTokenEveryOperationAnswers401() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            Response response = Calls.send(call, b, null);
            if (call.needsToken()) {
                softly.assertThat(response.statusCode()).as("%s", call).isEqualTo(401);
                softly.assertThat(response.asString()).as("%s", call).contains("\"code\":\"unauthenticated\"");
            } else {
                World never = b.neverThere();
                softly.assertThat(response.statusCode()).as("%s", call).isEqualTo(200);
                softly.assertThat(response.asString().replace(b.tenant(), never.tenant()))
                        .as("%s answers alike for a tenant that never existed", call)
                        .isEqualTo(Calls.send(call, never, null).asString());
            }
        }
        softly.assertAll();
    }

    @Test
    void everythingOfAnotherTenantAnswersAsIfItHadNeverExisted() {
        Map<String, String> before = stored.of(b.tenant());
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : ofTenants()) {
            String token = Roles.admin(a);
            Response real = Calls.send(call, b, token);
            Response never = Calls.send(call, b.neverThere(), token);
            softly.assertThat(real.statusCode()).as("%s", call).isEqualTo(404);
            softly.assertThat(real.asString()).as("answer of %s", call).isEqualTo(never.asString());
            softly.assertThat(names(real)).as("headers of %s", call).isEqualTo(names(never));
        }
        softly.assertThat(stored.of(b.tenant())).as("what %s has", b.tenant()).isEqualTo(before);
        softly.assertAll();
    }

    @Test
    void onesOwnPathLeadsToNothingOfAnotherTenant() {
        Map<String, String> before = stored.of(b.tenant());
        World reach = a.reachingFor(b);
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : ofTenants()) {
            if (call.pathParameters().size() > 1) {
                Response response = Calls.send(call, reach, Roles.admin(a));
                softly.assertThat(response.statusCode())
                        .as("%s answers %s", call, response.asString())
                        .isIn(400, 404);
            }
        }
        softly.assertThat(stored.of(b.tenant())).as("what %s has", b.tenant()).isEqualTo(before);
        softly.assertAll();
    }

    @Test
    void bodiesCannotReferToAnotherTenantsThings() {
        Map<String, String> before = stored.of(b.tenant());
        World reach = a.reachingFor(b);
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : ofTenants()) {
            if (call.takesBody()) {
                String own = Bodies.text(call, a);
                String theirs = Bodies.text(call, reach);
                if (!own.equals(theirs)) {
                    Response response = Calls.send(call, a, Roles.admin(a), theirs, false);
                    softly.assertThat(response.statusCode())
                            .as("%s answers %s", call, response.asString())
                            .isIn(400, 404, 409, 422);
                }
            }
        }
        softly.assertThat(stored.of(b.tenant())).as("what %s has", b.tenant()).isEqualTo(before);
        softly.assertAll();
    }

    @Test
    void filtersFindNothingOfAnotherTenant() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : ofTenants()) {
            if (!call.writes() && !call.streams()) {
                for (Contract.Parameter parameter : call.parameters()) {
                    String id = NAMING.get(parameter.name());
                    if (parameter.in().equals("query") && id != null) {
                        Response response = request(Roles.admin(a))
                                .queryParam(parameter.name(), b.ids().get(id))
                                .get(a.fill(call.path()));
                        softly.assertThat(response.statusCode())
                                .as("%s by %s", call, parameter.name())
                                .isIn(200, 400, 404);
                        if (response.statusCode() == 200) {
                            softly.assertThat(response.jsonPath().getList("items"))
                                    .as("%s by %s", call, parameter.name())
                                    .isNullOrEmpty();
                        }
                    }
                }
            }
        }
        softly.assertAll();
    }

    @Test
    void listsShowNothingOfAnotherTenant() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : ofTenants()) {
            if (!call.writes() && !call.streams()) {
                Response response = Calls.send(call, a, Roles.admin(a));
                softly.assertThat(response.asString())
                        .as("%s", call)
                        .doesNotContain(
                                b.tenant(),
                                b.ids().get("workload"),
                                b.ids().get("rule"),
                                b.ids().get("operation"));
            }
        }
        softly.assertAll();
    }

    @Test
    void operatorsAndAgentsRoutesAreNotThereForTenants() {
        Map<String, String> before = stored.of(b.tenant());
        List<Contract.Call> calls = contract.calls().stream()
                .filter(call -> call.ofOperator() || call.ofNode())
                .toList();
        assertThat(calls).isNotEmpty();
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : calls) {
            String token = Roles.admin(a);
            Response real = Calls.send(call, b, token);
            softly.assertThat(real.statusCode()).as("%s", call).isEqualTo(404);
            softly.assertThat(real.asString())
                    .as("answer of %s", call)
                    .isEqualTo(Calls.send(call, b.neverThere(), token).asString());
        }
        softly.assertThat(stored.of(b.tenant())).as("what %s has", b.tenant()).isEqualTo(before);
        softly.assertAll();
    }

    @Test
    void everyRouteIsInOneOfTheThreeParts() {
        assertThat(contract.calls())
                .as("a route elsewhere is looked at by none of these tests")
                .allMatch(call ->
                        call.ofTenant() || call.ofOperator() || call.ofNode() || call.ofCaller() || !call.needsToken());
        assertThat(contract.calls().stream().filter(call -> !call.needsToken()).map(Contract.Call::id))
                .as("routes without a token")
                .containsExactly("getSignIn");
    }

    private List<Contract.Call> ofTenants() {
        List<Contract.Call> calls =
                contract.calls().stream().filter(Contract.Call::ofTenant).toList();
        assertThat(calls).isNotEmpty();
        return calls;
    }

    private static TreeSet<String> names(Response response) {
        TreeSet<String> names = new TreeSet<>(String.CASE_INSENSITIVE_ORDER);
        response.headers().forEach(header -> names.add(header.getName()));
        return names;
    }
}
