package io.quartermaster.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.platform.http.JsonSettings;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SubmissionTest {

    private static final ObjectMapper JSON = JsonSettings.newMapper();

    private static ObjectNode good() throws Exception {
        return (ObjectNode) JSON.readTree("""
                {"queue": "research-single", "name": "train", "type": "training", "command": ["python", "train.py"]}
                """);
    }

    private static List<Problem.Field> errors(ObjectNode body, String at) throws Exception {
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        JSON.treeToValue(body, Submission.class).check(at, invalid);
        return invalid.isEmpty() ? List.of() : invalid.toException().problem().errors();
    }

    @Test
    void isToRunUnlessItSaysOtherwise() throws Exception {
        assertThat(JSON.treeToValue(good(), Submission.class).desiredState()).isEqualTo(DesiredState.RUN);
    }

    @Test
    void nothingIsWrongWithAFullOne() throws Exception {
        ObjectNode body = good().put("priority", 0)
                .put("preemptible", false)
                .put("dedicatedOnly", true)
                .put("maxRuntime", "PT1H")
                .put("hold", true);
        body.putObject("environment").put("LR", "0.1").put("_x", "");
        body.putObject("labels").put("team/project", "a b");
        body.putArray("abortCallback").add("sh").add("-c").add("echo bye");
        assertThat(errors(body, "")).isEmpty();
        assertThat(JSON.treeToValue(body, Submission.class).desiredState()).isEqualTo(DesiredState.HOLD);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    queue         | null
                    queue         | "Not A Queue"
                    name          | null
                    name          | ""
                    name          | "   "
                    name          | "two\\nlines"
                    type          | null
                    command       | null
                    command       | []
                    command[0]    | [" "]
                    command[1]    | ["a", null]
                    command[1]    | ["a", "b\\u0000c"]
                    command[1]    | ["a", "\\ud800"]
                    abortCallback | []
                    environment   | {"1A": "x"}
                    environment   | {"A B": "x"}
                    environment   | {"QM_ATTEMPT": "x"}
                    environment   | {"CUDA_VISIBLE_DEVICES": "0"}
                    environment.A | {"A": null}
                    environment.A | {"A": "\\u0000"}
                    labels        | {"": "x"}
                    labels        | {"a": null}
                    priority      | -1
                    priority      | 1001
                    maxRuntime    | "PT0S"
                    maxRuntime    | "PT-5S"
                    maxRuntime    | "P366D"
                    """)
    void everyWrongFieldIsNamedAndWhatWouldBeAccepted(String field, String value) throws Exception {
        ObjectNode body = good();
        body.set(field.split("[\\[.]")[0], JSON.readTree(value));
        assertThat(errors(body, "items[7].")).singleElement().satisfies(error -> {
            assertThat(error.field()).isEqualTo("items[7]." + field);
            assertThat(error.accepted()).isNotBlank();
        });
    }

    @Test
    void allWrongFieldsAreNamedAtOnce() throws Exception {
        ObjectNode body = JSON.createObjectNode().put("priority", 5000);
        assertThat(errors(body, ""))
                .extracting(Problem.Field::field)
                .containsExactly("queue", "name", "type", "command", "priority");
    }

    @Test
    void whatIsTooLongIsRefused() throws Exception {
        assertThat(errors(good().put("name", "n".repeat(Submission.MAX_NAME + 1)), ""))
                .hasSize(1);
        ObjectNode manyWords = good();
        manyWords.putArray("command").addAll(Collections.nCopies(Submission.MAX_WORDS + 1, JSON.readTree("\"x\"")));
        assertThat(errors(manyWords, "")).hasSize(1);
        ObjectNode longWord = good();
        longWord.putArray("command").add("x".repeat(Submission.MAX_COMMAND_CHARS + 1));
        assertThat(errors(longWord, "")).hasSize(1);
        ObjectNode bigEnvironment = good();
        bigEnvironment.putObject("environment").put("A", "x".repeat(Submission.MAX_ENVIRONMENT_CHARS));
        assertThat(errors(bigEnvironment, "")).hasSize(1);
    }

    @Test
    void aFieldNobodyKnowsIsRefusedByTheReader() throws Exception {
        ObjectNode body = good().put("gpus", 3);
        assertThatThrownBy(() -> JSON.treeToValue(body, Submission.class)).hasMessageContaining("gpus");
    }
}
