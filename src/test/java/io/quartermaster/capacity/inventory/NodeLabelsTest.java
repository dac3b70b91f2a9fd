package io.quartermaster.capacity.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.platform.http.ProblemException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeLabelsTest {

    @ParameterizedTest
    @ValueSource(strings = {"bad key!", " a", "a ", "-a", "a/", "\u4e2d", "", "a\u202eb"})
    void keysOfOtherCharactersAreRefusedByName(String key) {
        var problems = new ProblemException.Invalid();

        NodeLabels.check(problems, "labels", Map.of(key, "x"));

        assertThat(problems.toException().problem().errors()).singleElement().satisfies(error -> {
            assertThat(error.field()).isEqualTo("labels");
            assertThat(error.message()).contains("\"" + key + "\"");
        });
    }

    @Test
    void keysAsOfKubernetesAreAccepted() {
        var problems = new ProblemException.Invalid();

        NodeLabels.check(
                problems, "labels", Map.of("topology.kubernetes.io/zone", "z1", "gpu", "H100 80GB", "a_b-c.d", ""));

        assertThat(problems.isEmpty()).isTrue();
    }
}
