package io.quartermaster.client.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SubmissionFileTest {

    @Test
    void scalarsHaveTheTypesOfTheApi() {
        assertThat(SubmissionFile.parse("f", """
                        queue: q
                        gpus: 2
                        maxRuntime: 2h
                        priority: 5
                        hold: true
                        command: [python, train.py, --epochs, 3, yes]
                        environment: {FLAG: yes, PORT: 0123, EMPTY: ''}
                        """))
                .singleElement()
                .hasToString("{\"queue\":\"q\",\"gpus\":\"2\",\"maxRuntime\":\"PT2H\",\"priority\":5,\"hold\":true,"
                        + "\"command\":[\"python\",\"train.py\",\"--epochs\",\"3\",\"yes\"],"
                        + "\"environment\":{\"FLAG\":\"yes\",\"PORT\":\"0123\",\"EMPTY\":\"\"}}");
    }

    @Test
    void aFileMayHoldSeveralJobsAndBeJson() {
        assertThat(SubmissionFile.parse("f", "name: a\n---\nname: b\n")).hasSize(2);
        assertThat(SubmissionFile.parse("f", "{\"name\": \"a\", \"hold\": false}"))
                .singleElement()
                .hasToString("{\"name\":\"a\",\"hold\":false}");
    }

    @Test
    void everyTextOfJsonIsRead() {
        assertThat(SubmissionFile.parse("f", " {\"name\": \"a\\/b\\ud83d\\ude00\", \"gpus\": 0.50, \"priority\": 5}\n"))
                .singleElement()
                .hasToString("{\"name\":\"a/b\ud83d\ude00\",\"gpus\":\"0.50\",\"priority\":5}");
    }

    @Test
    void aliasesMakeNoSubmissionWithoutEnd() {
        StringBuilder growing = new StringBuilder("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 6; i++) {
            growing.append(
                    "a%d: &a%d [%s]\n".formatted(i, i, String.join(", ", Collections.nCopies(9, "*a" + (i - 1)))));
        }

        assertThatThrownBy(() -> SubmissionFile.parse("f", "a: &a [*a]"))
                .hasMessageStartingWith("f: a submission has at most 100000 values, nested at most 50 deep");
        assertThatThrownBy(() -> SubmissionFile.parse("f", growing.toString()))
                .hasMessageStartingWith("f: a submission has at most 100000 values");
    }

    @Test
    void wrongTypesAreLeftToTheService() {
        assertThat(SubmissionFile.parse("f", "priority: high\nhold: maybe"))
                .singleElement()
                .hasToString("{\"priority\":\"high\",\"hold\":\"maybe\"}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''             | f has no submission",
                "[a]            | f: a submission is a mapping",
                "'a: ['         | f is neither YAML nor JSON",
                "maxRuntime: 2x | f: maxRuntime: \"2x\" is not a duration",
                "'{a: 1, a: 2}' | f is neither YAML nor JSON",
            })
    void aFileThatIsNoSubmissionIsNamed(String text, String message) {
        assertThatThrownBy(() -> SubmissionFile.parse("f", text)).hasMessageStartingWith(message);
    }
}
