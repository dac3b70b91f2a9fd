package io.quartermaster.platform.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.writes.FieldChange;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MergePatchTest {

    private static final ObjectMapper JSON = JsonSettings.newMapper();

    record Part(String pool, @Nullable GpuAmount limit) {}

    record Thing(
            @Nullable String name,
            @Nullable Map<String, @Nullable Part> parts,
            @Nullable List<String> words) {}

    record Seen(String name, List<Part> quotas, int version) {}

    /** The examples of RFC 7396, appendix A, that begin and end with an object. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    {"a":"b"}         | {"a":"c"}                      | {"a":"c"}
                    {"a":"b"}         | {"b":"c"}                      | {"a":"b","b":"c"}
                    {"a":"b"}         | {"a":null}                     | {}
                    {"a":"b","b":"c"} | {"a":null}                     | {"b":"c"}
                    {"a":["b"]}       | {"a":"c"}                      | {"a":"c"}
                    {"a":"c"}         | {"a":["b"]}                    | {"a":["b"]}
                    {"a":{"b":"c"}}   | {"a":{"b":"d","c":null}}       | {"a":{"b":"d"}}
                    {"a":[{"b":"c"}]} | {"a":[1]}                      | {"a":[1]}
                    {"e":null}        | {"a":1}                        | {"e":null,"a":1}
                    {}                | {"a":{"bb":{"ccc":null}}}      | {"a":{"bb":{}}}
                    """)
    void aPatchIsAppliedAsTheStandardSays(String target, String patch, String result) throws Exception {
        JsonNode merged = MergePatch.merge(JSON.readTree(target), JSON.readTree(patch), JSON);

        assertThat(merged).isEqualTo(JSON.readTree(result));
    }

    @Test
    void whatIsAbsentStaysAndNullTakesAFieldAway() throws Exception {
        Thing now = new Thing("one", Map.of("h100", new Part("h100", new GpuAmount(1_000))), List.of("a", "b"));

        Thing then = MergePatch.read(JSON, "{\"parts\":{\"h100\":{\"limit\":null}},\"words\":[\"c\"]}", Thing.class)
                .applyTo(now, Thing.class, JSON);

        assertThat(then).isEqualTo(new Thing("one", Map.of("h100", new Part("h100", null)), List.of("c")));
        assertThat(MergePatch.read(JSON, "{}", Thing.class).applyTo(now, Thing.class, JSON))
                .isEqualTo(now);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "null", "[]", "\"x\"", "3"})
    void whatIsNoObjectIsRefused(String body) {
        assertThatThrownBy(() -> MergePatch.read(JSON, body, Thing.class))
                .isInstanceOf(ProblemException.class)
                .hasMessageContaining("body");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"{\"surname\":\"x\"}", "{\"words\":\"x\"}", "{\"parts\":{\"h100\":{\"limit\":1}}}", "{\"a\":"})
    void aFieldThatThereIsNotOrOfAnotherTypeIsRefused(String body) {
        assertThatThrownBy(() -> MergePatch.read(JSON, body, Thing.class)).isInstanceOf(JsonProcessingException.class);
    }

    @Test
    void changesNameFieldsWithPartsUnderTheirPool() {
        Seen before = new Seen("one", List.of(new Part("h100", new GpuAmount(1_000)), new Part("b", null)), 1);
        Seen after = new Seen("two", List.of(new Part("b", null), new Part("h100", null), new Part("c", null)), 2);

        assertThat(FieldChange.between(before, after, JSON))
                .extracting(FieldChange::field)
                .containsExactly("name", "quotas.c", "quotas.h100.limit");
        assertThat(FieldChange.between(before, before, JSON)).isEmpty();
    }
}
