package io.quartermaster.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.restassured.response.ResponseBodyExtractionOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * The body of an answer, for loops. RestAssured compiles a path such as {@code path("state")} as a Groovy script on
 * each call; in tests that send thousands of requests, or poll, that took a third of the CPU time.
 */
public final class JsonBody {

    private static final ObjectMapper JSON = new ObjectMapper();

    private JsonBody() {}

    public static JsonNode of(ResponseBodyExtractionOptions answer) {
        try {
            return JSON.readTree(answer.asString());
        } catch (JsonProcessingException e) {
            throw new AssertionError("no JSON: " + answer.asString(), e);
        }
    }

    /** The elements of an array; none if it is missing. */
    public static List<JsonNode> elements(JsonNode array) {
        List<JsonNode> elements = new ArrayList<>();
        array.forEach(elements::add);
        return elements;
    }
}
