package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Role;
import io.quartermaster.testing.JsonBody;
import io.restassured.response.Response;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Reports of agents with arbitrary values in every field. The service accepts each, or refuses it with the field and
 * the accepted values, and never fails.
 */
@QuarkusTest
class AgentInputIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String STATE_FOLDER = "0199aaaa-0000-7000-8000-0000000000aa";

    /** A new id for each request, so that none is outdated. */
    private static final String INSTANCE = "0199aaaa-0000-7000-8000-0000000000bb";

    private static final String MARK = "the value";

    /** The values as they appear in a JSON document. */
    private static final List<String> VALUES = List.of(
            "null",
            "[null]",
            "[[]]",
            "{}",
            "[]",
            "true",
            "\"\"",
            "\"x\"",
            "\"\\u0000\"",
            "\"\\ud800\"",
            "\"" + "x".repeat(100_000) + "\"",
            "-1",
            "0",
            "1.5",
            "2147483648",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "1e400",
            "1e999999999",
            "9".repeat(2_000));

    private static World world;

    private Contract.Call sync;
    private long sequence;

    @BeforeAll
    static void tenant() {
        world = World.both().a();
    }

    @BeforeEach
    void find() {
        sync = Contract.served().calls().stream()
                .filter(call -> call.ofNode() && call.takesBody())
                .findFirst()
                .orElseThrow();
    }

    private ObjectNode report(String states) {
        try {
            ObjectNode report = (ObjectNode) JSON.readTree(Bodies.text(sync, world));
            report.put("sequence", ++sequence);
            report.put("stateId", STATE_FOLDER);
            report.put("instanceId", INSTANCE);
            ((ObjectNode) report.get("inventory")).set("pausing", JSON.readTree("{\"by\":\"signals\",\"most\":1}"));
            report.set("attempts", JSON.readTree(states));
            return report;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String attempt(int number, String state) {
        return "{\"attemptId\":\"0199aaaa-0000-7000-8000-00000000000" + number + "\",\"state\":" + state
                + ",\"checkpoint\":{\"name\":\"step\",\"savedAtEpochMillis\":1},\"log\":{\"text\":\"x\",\"totalBytes\":1}}";
    }

    private ObjectNode full() {
        return report("["
                + attempt(1, "{\"state\":\"starting\"}") + ","
                + attempt(2, "{\"state\":\"running\",\"startedAtEpochMillis\":1}") + ","
                + attempt(3, "{\"state\":\"stopping\",\"startedAtEpochMillis\":1,\"reason\":\"cancelled\"}") + ","
                + attempt(4, "{\"state\":\"paused\",\"startedAtEpochMillis\":1}") + ","
                + attempt(
                        5,
                        "{\"state\":\"ended\",\"outcome\":\"failed\",\"exitCode\":1,\"startedAtEpochMillis\":1,\"endedAtEpochMillis\":2,\"detail\":\"d\"}")
                + "]");
    }

    private Response send(String body) {
        String next = body.replace(INSTANCE, UUID.randomUUID().toString());
        return Calls.send(sync, world, Roles.token(Role.AGENT, world), next, false);
    }

    /** Every position in a document, as the text before and after its value. */
    private static List<String[]> places(JsonNode document) {
        List<String[]> places = new ArrayList<>();
        places.add(new String[] {"", ""});
        List<JsonPointer> pointers = new ArrayList<>();
        collect(document, JsonPointer.empty(), pointers);
        for (JsonPointer pointer : pointers) {
            JsonNode marked = document.deepCopy();
            JsonNode parent = marked.at(pointer.head());
            if (parent instanceof ObjectNode object) {
                object.put(pointer.last().getMatchingProperty(), MARK);
            } else {
                ((ArrayNode) parent)
                        .set(
                                pointer.last().getMatchingIndex(),
                                JSON.getNodeFactory().textNode(MARK));
            }
            places.add(marked.toString().split(Pattern.quote('"' + MARK + '"')));
        }
        return places;
    }

    private static void collect(JsonNode node, JsonPointer at, List<JsonPointer> pointers) {
        node.properties().forEach(field -> {
            pointers.add(at.appendProperty(field.getKey()));
            collect(field.getValue(), at.appendProperty(field.getKey()), pointers);
        });
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            pointers.add(at.appendIndex(i));
            collect(node.get(i), at.appendIndex(i), pointers);
        }
    }

    @Test
    void anythingInAnyFieldIsTakenInOrRefusedByName() {
        assertThat(send(full().toString()).statusCode()).isEqualTo(200);
        SoftAssertions softly = new SoftAssertions();
        for (String[] place : places(full())) {
            for (String value : VALUES) {
                Response response = send(place[0] + value + place[1]);
                String shown = value.substring(0, Math.min(30, value.length())) + " after ..."
                        + place[0].substring(Math.max(0, place[0].length() - 60));
                softly.assertThat(response.statusCode())
                        .as("%s: %s", shown, response.asString())
                        .isIn(200, 400, 409);
                if (response.statusCode() == 400) {
                    requireOwnWords(softly, shown, response);
                }
            }
        }
        softly.assertAll();
    }

    private static void requireOwnWords(SoftAssertions softly, String shown, Response response) {
        softly.assertThat(response.contentType()).as(shown).contains("application/problem+json");
        List<JsonNode> errors = JsonBody.elements(JsonBody.of(response).path("errors"));
        softly.assertThat(errors)
                .as("%s: %s", shown, response.asString())
                .isNotEmpty()
                .allSatisfy(error -> {
                    assertThat(error.path("field").asText()).isNotBlank();
                    assertThat(error.path("accepted").asText())
                            .as(error.toString())
                            .isNotBlank();
                    assertThat(error.path("message").asText())
                            .isNotBlank()
                            .doesNotContain("java.", "io.quartermaster", "com.fasterxml", "Source", "`");
                });
    }

    @Test
    void oneAttemptTwiceIsRefusedByItsPlace() {
        String running = attempt(1, "{\"state\":\"running\",\"startedAtEpochMillis\":1}");
        Response response = send(report("[" + running + "," + running + "]").toString());

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.<List<String>>path("errors.field")).containsExactly("attempts[1].attemptId");
        assertThat(response.<List<String>>path("errors.accepted")).containsExactly("each attempt once");
    }

    @Test
    void whatIsMissingAndWhatNoClockShowsIsNamed() {
        ObjectNode without = report("[]");
        without.putNull("inventory");
        assertThat(send(without.toString()).<List<String>>path("errors.field")).containsExactly("inventory");

        ObjectNode noList = report("[]");
        noList.putNull("attempts");
        assertThat(send(noList.toString()).<List<String>>path("errors.field")).containsExactly("attempts");

        assertThat(send(report("[null]").toString()).<List<String>>path("errors.field"))
                .containsExactly("attempts[0]");

        Response late = send(report("["
                        + attempt(
                                1,
                                "{\"state\":\"ended\",\"outcome\":\"failed\",\"endedAtEpochMillis\":9223372036854775807,\"detail\":\"\"}")
                        + "]")
                .toString());
        assertThat(late.<List<String>>path("errors.field"))
                .singleElement()
                .asString()
                .endsWith("endedAtEpochMillis");
        assertThat(late.<List<String>>path("errors.accepted")).containsExactly("from 0 to 253402300799999");
    }

    @Test
    void tooManyAttemptsAreRefused() {
        ObjectNode report = report("[]");
        ArrayNode attempts = report.putArray("attempts");
        for (int i = 0; i < 1_001; i++) {
            attempts.addObject()
                    .put("attemptId", "0199aaaa-0000-7000-8000-" + "%012d".formatted(i))
                    .putObject("state")
                    .put("state", "starting");
        }
        assertThat(send(report.toString()).<List<String>>path("errors.field")).containsExactly("attempts");
    }
}
