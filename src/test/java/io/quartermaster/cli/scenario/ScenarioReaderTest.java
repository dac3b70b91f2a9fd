package io.quartermaster.cli.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class ScenarioReaderTest {

    /** A file with one error, the line of the error, and a word of the message. */
    private record Wrong(String text, int line, String word) {}

    private static final List<Wrong> WRONG = List.of(
            new Wrong("scenario: a\npools:\n  p: {capcity: 3}\n", 3, "capcity"),
            new Wrong("scenario: a\nquota: []\n", 2, "quota"),
            new Wrong("title: nameless\n", 1, "scenario"),
            new Wrong("scenario: Not Kebab\n", 1, "kebab"),
            new Wrong("scenario: a\npools:\n  p: {capacity: 1.2345}\n", 3, "three decimal"),
            new Wrong("scenario: a\npools: {p: {capacity: 1}}\nquotas:\n  - {path: t, pool: q}\n", 4, "'q'"),
            new Wrong("scenario: a\nsettings:\n  grace: 10\n", 3, "duration"),
            new Wrong("scenario: a\nsettings: {spill: sideways}\n", 2, "after-preempting"),
            new Wrong("scenario: a\nscenario: b\n", 2, "twice"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n  - {name: w, path: t, gpus: 1.5}\n",
                    4,
                    "fraction"),
            new Wrong("scenario: a\npools: {p: {capacity: 1}}\nexpect:\n  - {at: 0s, running: [ghost]}\n", 4, "ghost"),
            new Wrong("scenario: a\npools: {p: {capacity: 1}}\ntimeline:\n  - {at: 1s, node-down: [n9]}\n", 4, "n9"),
            new Wrong("scenario: a\npools: {p: [\n", 3, "expected"),
            new Wrong("scenario: a\n---\nscenario: a\n", 3, "given twice"),
            new Wrong("# nothing but a remark\n", 1, "no scenario"),
            new Wrong("scenario: a\ntimeline:\n  - {at: -1s}\n", 3, "before 0s"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n"
                            + "  - {name: w, path: t, workers: 2, min-workers: 3}\n",
                    4,
                    "min-workers"),
            new Wrong(
                    "scenario: a\npools:\n  p:\n    nodes: [{name: n, gpus: 1}]\nworkloads:\n"
                            + "  - {name: w, path: t, gpus: 2, state: running, on: n}\n",
                    6,
                    "does not fit"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nquotas:\n"
                            + "  - {path: t, pool: p}\n  - {path: t, pool: p, limit: 1}\n",
                    5,
                    "given twice for one pool"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nquotas:\n  - {path: t, pool: p, limit: -1}\n",
                    4,
                    "must not be negative"),
            new Wrong("scenario: a\nsettings:\n  grace: -10s\n", 3, "not negative"),
            new Wrong(
                    "scenario: a\nsettings:\n  fairness-window: 0s\n",
                    3,
                    "'fairness-window' must be a duration of more than 0"),
            new Wrong(
                    "scenario: a\nsettings:\n  fairness-window: -1h\n",
                    3,
                    "'fairness-window' must be a duration of more than 0"),
            new Wrong(
                    "scenario: a\nsettings:\n  patience: -1s\n",
                    3,
                    "'patience' must be a duration that is not negative"),
            new Wrong(
                    "scenario: a\nsettings:\n  min-runtime: -1s\n",
                    3,
                    "'min-runtime' must be a duration that is not negative"),
            new Wrong(
                    "scenario: a\nsettings:\n  reclaim-min-runtime: -1s\n",
                    3,
                    "'reclaim-min-runtime' must be a duration that is not negative"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n  - {name: w, path: t, gpus: 1, "
                            + "duration: -1s}\n",
                    4,
                    "'duration' must be a duration that is not negative"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n  - {name: w, path: t, gpus: 1, "
                            + "max-runtime: -1s}\n",
                    4,
                    "'max-runtime' must be a duration that is not negative"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n  - {name: w, path: t, gpus: 99999999999}\n",
                    4,
                    "up to 1000000000"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n"
                            + "  - {name: w, path: t, devices: 1000000, gpus: 1000000}\n",
                    4,
                    "overflow"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n  - {name: w, count: -1, path: t, gpus: 1}\n",
                    4,
                    "'count' must be 1 to"),
            new Wrong(
                    "scenario: a\npools: {p: {capacity: 1}}\nworkloads:\n"
                            + "  - {name: w, path: t, gpus: 1, state: running, on: p, started: 1m}\n",
                    4,
                    "must have 'started'"),
            new Wrong(
                    "scenario: a\npools:\n  p:\n    nodes:\n      - {name: n, gpus: -1}\n", 5, "a node must have 0 to"),
            new Wrong("scenario: a\nexpect:\n  - {at: -1s, running: []}\n", 3, "before 0s"));

    @TestFactory
    List<DynamicTest> whatIsWrongIsNamedWithItsLine() {
        return WRONG.stream()
                .map(wrong -> DynamicTest.dynamicTest(
                        wrong.word(), () -> assertThatThrownBy(() -> ScenarioReader.read(wrong.text()))
                                .isInstanceOfSatisfying(ScenarioSyntaxException.class, error -> {
                                    assertThat(error.line()).isEqualTo(wrong.line());
                                    assertThat(error.getMessage()).contains(wrong.word());
                                })))
                .toList();
    }

    @Test
    void aFileMayHoldSeveralScenarios() {
        assertThat(ScenarioReader.read("scenario: a\n---\nscenario: b\n"))
                .extracting(scenario -> scenario.name())
                .containsExactly("a", "b");
    }

    @Test
    void whatLastsMayLastNoTimeAndWorkMayHaveStartedBefore() {
        assertThat(ScenarioReader.read("scenario: a\npools: {p: {capacity: 1}}\nsettings: {patience: 0s, grace: 0s}\n"
                        + "workloads:\n  - {name: w, path: t, gpus: 1, state: running, on: p, started: -10m, "
                        + "duration: 0s, max-runtime: 0s}\n"))
                .hasSize(1);
    }
}
