package io.quartermaster.metering.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class UsageSettingsTest {

    private static UsageSettings replaced(UsageSettings before, String... keys) {
        return before.replaced(new UsageSettings.Request(List.of(keys), null));
    }

    private static List<String> refusedFields(UsageSettings.@Nullable Request request) {
        try {
            UsageSettings.NONE.replaced(request);
        } catch (ProblemException e) {
            return e.problem().errors().stream().map(Problem.Field::field).toList();
        }
        return List.of();
    }

    @Test
    void keysAreSortedAndEarlierOnesAreRemembered() {
        UsageSettings first = replaced(UsageSettings.NONE, "team", "stage", "team");
        UsageSettings second = replaced(first, "project", "team");
        UsageSettings third = replaced(second, "stage");

        assertThat(first).isEqualTo(new UsageSettings(List.of("stage", "team"), List.of(), "UTC", 1));
        assertThat(second).isEqualTo(new UsageSettings(List.of("project", "team"), List.of("stage"), "UTC", 2));
        assertThat(third).isEqualTo(new UsageSettings(List.of("stage"), List.of("project", "team"), "UTC", 3));
    }

    @Test
    void whatChangesNothingKeepsTheVersion() {
        UsageSettings first = replaced(UsageSettings.NONE, "team", "stage");

        assertThat(replaced(first, "stage", "team")).isEqualTo(first);
        assertThat(replaced(UsageSettings.NONE)).isEqualTo(UsageSettings.NONE);
        assertThat(first.replaced(new UsageSettings.Request(List.of("stage", "team"), "Asia/Kolkata")))
                .isEqualTo(new UsageSettings(List.of("stage", "team"), List.of(), "Asia/Kolkata", 2));
    }

    @Test
    void eachInvalidFieldIsNamed() {
        assertThat(refusedFields(null)).containsExactly("labelKeys");
        assertThat(refusedFields(new UsageSettings.Request(null, "UTC"))).containsExactly("labelKeys");
        assertThat(refusedFields(new UsageSettings.Request(Arrays.asList("a", null, "b c", "=", "_x"), "Mars/Olympus")))
                .containsExactlyInAnyOrder("timeZone", "labelKeys[1]", "labelKeys[2]", "labelKeys[3]", "labelKeys[4]");
        assertThat(refusedFields(new UsageSettings.Request(List.of("a", "b", "c", "d", "e", "f"), null)))
                .containsExactly("labelKeys");
        assertThat(refusedFields(new UsageSettings.Request(List.of(), "+02:00")))
                .containsExactly("timeZone");
    }

    @Test
    void theKeysOverTimeAreBounded() {
        UsageSettings settings = UsageSettings.NONE;
        for (int i = 0; i < UsageSettings.MOST_KEYS_EVER; i++) {
            settings = replaced(settings, "key-" + i);
        }
        UsageSettings full = settings;

        assertThatThrownBy(() -> replaced(full, "another"))
                .isInstanceOfSatisfying(
                        ProblemException.class,
                        e -> assertThat(e.problem().code()).isEqualTo("too-many-label-keys"));
        assertThat(replaced(full, "key-3").earlierLabelKeys())
                .containsExactlyElementsOf(IntStream.range(0, UsageSettings.MOST_KEYS_EVER)
                        .filter(i -> i != 3)
                        .mapToObj(i -> "key-" + i)
                        .sorted()
                        .toList());
    }
}
