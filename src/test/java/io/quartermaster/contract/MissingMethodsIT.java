package io.quartermaster.contract;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.restassured.RestAssured;
import io.restassured.response.Response;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The answer to a method that a path of the contract does not have is the same on all paths, and names the path's
 * methods.
 */
@QuarkusTest
class MissingMethodsIT {

    private static final List<String> METHODS = List.of("GET", "POST", "PUT", "PATCH", "DELETE");

    private static World a;
    private static World b;

    private final List<Missing> missing = new ArrayList<>();

    /** @param allowed the methods of the path in the contract */
    private record Missing(String method, String path, Set<String> allowed) {}

    @BeforeAll
    static void twoTenants() {
        a = World.both().a();
        b = World.both().b();
    }

    @BeforeEach
    void find() {
        List<Contract.Call> calls = Contract.served().calls();
        for (String path : new TreeSet<>(calls.stream().map(Contract.Call::path).toList())) {
            String filled = a.fill(path);
            Set<String> allowed = new TreeSet<>();
            calls.stream().filter(call -> fits(call.path(), filled)).forEach(call -> allowed.add(call.method()));
            METHODS.stream()
                    .filter(method -> !allowed.contains(method))
                    .forEach(method -> missing.add(new Missing(method, path, withThoseOfEveryPath(allowed))));
        }
        assertThat(missing).hasSizeGreaterThan(calls.size());
    }

    @Test
    void nobodyIsToldTheMethodsOfAPathThatIsNotThere() {
        RestAssured.options("/v1/foo").then().statusCode(404);
        RestAssured.options("/v1/tenants/" + a.tenant() + "/nothing").then().statusCode(404);
    }

    @Test
    void everyMethodThatAPathLacksAnswers405WithThoseItHas() {
        SoftAssertions softly = new SoftAssertions();
        for (Missing each : missing) {
            Response response = send(each, a, Roles.admin(a));
            softly.assertThat(response.statusCode()).as("%s", each).isEqualTo(405);
            softly.assertThat(response.header("Allow"))
                    .as("Allow of %s", each)
                    .isEqualTo(String.join(", ", each.allowed()));
            softly.assertThat(response.contentType()).as("%s", each).contains("application/problem+json");
            softly.assertThat(response.asString()).as("%s", each).contains("\"code\":\"method-not-allowed\"");
        }
        softly.assertAll();
    }

    @Test
    void theAnswerIsTheSameForWhatIsAnothersAndForWhatNeverWas() {
        SoftAssertions softly = new SoftAssertions();
        for (Missing each : missing) {
            String own = send(each, a, Roles.admin(a)).asString();
            for (World other : List.of(b, b.neverThere())) {
                Response response = send(each, other, Roles.admin(a));
                softly.assertThat(response.statusCode() + response.asString())
                        .as("%s of %s", each, other.tenant())
                        .isEqualTo("405" + own);
            }
        }
        softly.assertAll();
    }

    @Test
    void withoutTokenItAnswers401() {
        SoftAssertions softly = new SoftAssertions();
        for (Missing each : missing) {
            for (Optional<String> token : List.of(Optional.<String>empty(), Optional.of("no-token"))) {
                Response response = send(each, a, token.orElse(null));
                softly.assertThat(response.statusCode())
                        .as("%s with token %s", each, token)
                        .isEqualTo(401);
                softly.assertThat(response.header("Allow")).as("%s", each).isNull();
            }
        }
        softly.assertAll();
    }

    @Test
    void optionsAnswersWithTheMethodsThatAPathHas() {
        SoftAssertions softly = new SoftAssertions();
        for (Missing each : missing) {
            Missing options = new Missing("OPTIONS", each.path(), each.allowed());
            Response response = send(options, a, Roles.admin(a));
            softly.assertThat(response.statusCode()).as("%s", options).isEqualTo(204);
            softly.assertThat(response.header("Allow"))
                    .as("Allow of %s", options)
                    .isEqualTo(String.join(", ", each.allowed()));
            softly.assertThat(send(options, a, null).statusCode())
                    .as("%s without a token", options)
                    .isEqualTo(401);
        }
        softly.assertAll();
    }

    private static Response send(Missing each, World world, @Nullable String token) {
        var request = given();
        if (token != null) {
            request.auth().oauth2(token);
        }
        return request.request(each.method(), world.fill(each.path()));
    }

    private static Set<String> withThoseOfEveryPath(Set<String> methods) {
        Set<String> all = new TreeSet<>(methods);
        if (all.contains("GET")) {
            all.add("HEAD");
        }
        all.add("OPTIONS");
        return all;
    }

    private static boolean fits(String template, String path) {
        String[] steps = template.split("/", -1);
        String[] filled = path.split("/", -1);
        boolean fits = steps.length == filled.length;
        for (int i = 0; fits && i < steps.length; i++) {
            fits = steps[i].startsWith("{") || steps[i].equals(filled[i]);
        }
        return fits;
    }
}
