package io.quartermaster.client.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReadableDurationTest {

    @ParameterizedTest
    @CsvSource({
        "90s,PT1M30S",
        "45m,PT45M",
        "2h,PT2H",
        "1h30m,PT1H30M",
        "3d,PT72H",
        "1d2h3m4s,PT26H3M4S",
        "PT2H,PT2H",
        "pt2h,PT2H",
        "P1D,PT24H",
        "0s,PT0S",
        "' 2h ',PT2H"
    })
    void peopleAndTheApiWriteDurations(String text, String read) {
        assertThat(ReadableDuration.parse(text)).isEqualTo(Duration.parse(read));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "2", "h", "2x", "-2h", "PT-2H", "1m2h", "2h 3m", "99999999999999999999s", "PT"})
    void anythingElseIsRefusedWithItsText(String text) {
        assertThatThrownBy(() -> ReadableDuration.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\"")
                .hasMessageContaining("2h");
    }

    @ParameterizedTest
    @CsvSource({
        "PT0.4S,0s",
        "PT59S,59s",
        "PT5M,5m",
        "PT5M3S,5m3s",
        "PT2H5M9S,2h5m",
        "PT50H,2d2h",
        "PT48H,2d",
        "PT-5M,5m"
    })
    void theTwoLargestUnitsAreShown(Duration length, String shown) {
        assertThat(ReadableDuration.format(length)).isEqualTo(shown);
    }
}
