package io.quartermaster.client.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
