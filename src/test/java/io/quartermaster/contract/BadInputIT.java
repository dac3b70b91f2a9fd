package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.restassured.config.EncoderConfig.encoderConfig;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Role;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.JsonBody;
import io.restassured.RestAssured;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The answer to an invalid input names the field and the accepted values, and the service writes nothing. */
@QuarkusTest
class BadInputIT {

    private static World world;
    private static World other;

    @Inject
    SystemDatabase database;

    private Contract contract;
    private Stored stored;

    @BeforeAll
    static void twoTenants() {
        world = World.both().a();
        other = World.both().b();
    }

    @BeforeEach
    void read() {
        contract = Contract.served();
        stored = new Stored(database);
    }

    @Test
    void everySpoiltBodyIsRefusedWithTheFieldAndNothingIsWritten() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.takesBody() && !call.ofNode()) {
                Map<String, String> before = stored.rowCounts();
                for (BadBodies.Bad bad : BadBodies.of(contract, call, Bodies.of(call, world))) {
                    Response response = Calls.send(call, world, token(call), bad.text(), false);
                    requireRefusal(softly, call + " with " + bad.field() + ": " + bad.what(), response, bad);
                }
                softly.assertThat(stored.rowCounts())
                        .as("rows after bad input to %s", call)
                        .isEqualTo(before);
            }
        }
        softly.assertAll();
    }

    /**
     * Agents may be older or newer than the service, so it ignores unknown fields of a report. A body that is not a
     * report is refused.
     */
    @Test
    void reportOfAnAgentThatIsNoneIsRefused() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.takesBody() && call.ofNode()) {
                for (BadBodies.Bad bad : BadBodies.noneOf(contract, call, Bodies.of(call, world))) {
                    Response response = Calls.send(call, world, token(call), bad.text(), false);
                    requireRefusal(softly, call + " with " + bad.what(), response, bad);
                }
            }
        }
        softly.assertAll();
    }

    private static void requireRefusal(SoftAssertions softly, String what, Response response, BadBodies.Bad bad) {
        String answer = response.statusCode() + " " + response.asString();
        softly.assertThat(response.statusCode()).as("%s: %s", what, answer).isIn(400, 422);
        if (response.statusCode() != 400 && response.statusCode() != 422) {
            return;
        }
        softly.assertThat(response.contentType()).as(what).contains("application/problem+json");
        JsonNode problem = JsonBody.of(response);
        softly.assertThat(problem.path("code").asText()).as("code for %s", what).isNotBlank();
        List<JsonNode> errors = JsonBody.elements(problem.path("errors"));
        softly.assertThat(errors).as("%s: %s", what, answer).isNotEmpty();
        if (bad.field().isEmpty() || bad.what().equals(BadBodies.NUL)) {
            return;
        }
        List<JsonNode> aboutIt = errors.stream()
                .filter(error -> isAbout(error.path("field").asText(null), bad.field()))
                .toList();
        softly.assertThat(aboutIt)
                .as("the field %s is named for %s: %s", bad.field(), what, answer)
                .isNotEmpty();
        if (bad.bounded() && !aboutIt.isEmpty()) {
            softly.assertThat(aboutIt)
                    .as("it is said what would do for %s: %s", what, answer)
                    .anyMatch(error -> error.hasNonNull("accepted"));
        }
    }

    /** An answer may name a field more exactly, as {@code pools[0]} for {@code pools}. */
    private static boolean isAbout(@Nullable String named, String field) {
        return named != null && (named.equals(field) || named.startsWith(field + "[") || named.startsWith(field + "."));
    }

    @Test
    void pageThatIsNoneIsRefusedByName() {
        String foreign = pageTokenOfAnotherTenant();
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.isPaged()) {
                for (String size : List.of("0", "-1", "many", "501", "1000000000", "99999999999")) {
                    requireNamed(softly, call, "pageSize", size);
                }
                for (String token : List.of("garbage", "AAAA", foreign, foreign + "A")) {
                    requireNamed(softly, call, "pageToken", token);
                }
                softly.assertThat(list(call, "pageSize", "500").statusCode())
                        .as("the greatest page size of %s", call)
                        .isEqualTo(200);
            }
        }
        softly.assertAll();
    }

    /** The first part of the token is valid, so that only the second can cause the refusal. */
    @Test
    void pageTokenWithAnotherKeyIsNoFailureOfTheService() {
        SoftAssertions softly = new SoftAssertions();
        int forged = 0;
        for (Contract.Call call : contract.calls()) {
            String next = call.isPaged() ? list(call, "pageSize", "1").path("nextPageToken") : null;
            if (next != null) {
                String text = new String(Base64.getUrlDecoder().decode(next), StandardCharsets.UTF_8);
                for (String key : List.of("zzz", "a\0b", "")) {
                    String token = Base64.getUrlEncoder()
                            .withoutPadding()
                            .encodeToString(
                                    (text.substring(0, text.indexOf('\n') + 1) + key).getBytes(StandardCharsets.UTF_8));
                    softly.assertThat(list(call, "pageToken", token).statusCode())
                            .as("%s after %s", call, key)
                            .isIn(200, 400);
                    forged++;
                }
            }
        }
        assertThat(forged).as("lists of more than one").isGreaterThan(9);
        softly.assertAll();
    }

    @Test
    void bodyOfAnotherMediaTypeOrCharacterSetIsRefused() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.takesBody()) {
                for (String type : List.of(
                        "text/plain", "text/csv", "application/xml", "application/json; charset=utf-16", "nonsense")) {
                    Response response = RestAssured.given()
                            .config(RestAssured.config()
                                    .encoderConfig(
                                            encoderConfig().appendDefaultContentCharsetToContentTypeIfUndefined(false)))
                            .auth()
                            .oauth2(token(call))
                            .header("Content-Type", type)
                            .header("If-Match", "\"0\"")
                            .body(Bodies.text(call, world).getBytes(StandardCharsets.UTF_8))
                            .request(call.method(), world.fill(call.path()));
                    softly.assertThat(response.statusCode())
                            .as("%s as %s: %s", call, type, response.asString())
                            .isEqualTo(415);
                    softly.assertThat(response.contentType())
                            .as("%s as %s", call, type)
                            .contains("problem+json");
                }
            }
        }
        softly.assertAll();
    }

    @Test
    void emptyIdempotencyKeyIsRefusedByName() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.writes() && !call.ofNode() && call.takes("dryRun")) {
                Response response = request(token(call))
                        .header("Idempotency-Key", "")
                        .header("If-Match", "\"0\"")
                        .queryParam("dryRun", true)
                        .body(call.takesBody() ? Bodies.text(call, world) : "")
                        .request(call.method(), world.fill(call.path()));
                softly.assertThat(response.statusCode())
                        .as("%s: %s", call, response.asString())
                        .isIn(400, 404, 409, 412);
                softly.assertThat(response.statusCode() == 400 ? response.asString() : "Idempotency-Key")
                        .as("%s", call)
                        .contains("Idempotency-Key");
            }
        }
        softly.assertAll();
    }

    @Test
    void queryParameterOfAnotherTypeIsRefusedByName() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (!call.ofNode()) {
                call.query()
                        .filter(parameter -> parameter.type().equals("integer")
                                || parameter.type().equals("boolean"))
                        .forEach(parameter -> requireNamed(softly, call, parameter.name(), "perhaps"));
            }
        }
        softly.assertAll();
    }

    @Test
    void queryParameterThatARouteDoesNotHaveIsRefusedByName() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (!call.ofNode()) {
                requireNamed(softly, call, "dryrun", "true");
            }
        }
        softly.assertAll();
    }

    @Test
    void queryParameterWithANulIsRefusedByName() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (!call.ofNode()) {
                call.query().forEach(parameter -> requireNamed(softly, call, parameter.name(), "a\0b"));
            }
        }
        softly.assertAll();
    }

    @Test
    void nothingIsNamedByATextWithANul() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            int place = call.path().lastIndexOf('{');
            if (!call.ofNode() && place >= 0) {
                String path = call.path().substring(0, place) + "a%00b"
                        + call.path().substring(call.path().indexOf('}', place) + 1);
                var request = request(token(call)).urlEncodingEnabled(false);
                String body = Bodies.text(call, world);
                if (!body.isEmpty()) {
                    request.body(body);
                }
                softly.assertThat(
                                request.request(call.method(), world.fill(path)).statusCode())
                        .as("%s with %s", call, path)
                        .isEqualTo(404);
            }
        }
        softly.assertAll();
    }

    /** Sent by a socket, since clients refuse to send such a request. */
    @Test
    void addressWhosePercentEscapesCannotBeReadIsRefusedByName() throws IOException {
        for (String field : List.of("pageSize", "path")) {
            String address = field.equals("path") ? "/v1/tenants/%zz" : "/v1/tenants/x/queues?a=1&pageSize=%zz";
            try (Socket socket = new Socket("localhost", RestAssured.port)) {
                String request = "GET " + address + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(answer)
                        .as(address)
                        .startsWith("HTTP/1.1 400")
                        .contains(
                                "application/problem+json",
                                "\"code\":\"invalid-input\"",
                                "\"field\":\"" + field + "\"");
            }
        }
    }

    private static void requireNamed(SoftAssertions softly, Contract.Call call, String parameter, String value) {
        Response response = list(call, parameter, value);
        softly.assertThat(response.statusCode())
                .as("%s with %s=%s: %s", call, parameter, value, response.asString())
                .isEqualTo(400);
        if (response.statusCode() == 400) {
            List<JsonNode> errors = JsonBody.elements(JsonBody.of(response).path("errors"));
            softly.assertThat(errors)
                    .as("%s with %s=%s", call, parameter, value)
                    .anyMatch(error -> error.path("field").asText().equals(parameter))
                    .allMatch(error -> error.hasNonNull("accepted"));
        }
    }

    private static Response list(Contract.Call call, String parameter, String value) {
        String body = Bodies.text(call, world);
        var request = request(token(call)).queryParam(parameter, value);
        if (!body.isEmpty()) {
            request.body(body);
        }
        return request.request(call.method(), world.fill(call.path()));
    }

    /** A real token: the demo's tenants have two groups. */
    private static String pageTokenOfAnotherTenant() {
        String token = request(adminToken(other.tenant()))
                .queryParam("pageSize", 1)
                .get("/v1/tenants/" + other.tenant() + "/groups")
                .then()
                .statusCode(200)
                .extract()
                .path("nextPageToken");
        assertThat(token).isNotBlank();
        return token;
    }

    private static String token(Contract.Call call) {
        return Roles.token(call.ofNode() ? Role.AGENT : call.ofOperator() ? Role.OPERATOR : Role.TENANT_ADMIN, world);
    }
}
