package io.quartermaster.platform.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.DateTimeException;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InstantParserTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-11-01T00:30:00Z",
                "2026-11-01T00:30Z",
                "2026-11-01T01:30:00+01:00",
                "2026-11-01T01:30:00.000+0100",
                "2026-11-01T00:30:00.000000+0000",
                "2026-10-31T23:30:00-0100",
                "2026-11-01t00:30:00z"
            })
    void offsetIsReadWithAndWithoutColon(String text) {
        assertThat(InstantParser.parse(text)).isEqualTo(Instant.parse("2026-11-01T00:30:00Z"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "2026-11-01",
                "2026-11-01T00:30:00",
                "2026-11-01T00:30:00+9900",
                "2026-11-01T00:30:00 +0100",
                "20261101T003000+0100",
                "T+0100",
                ""
            })
    void textThatIsNoInstantIsRefused(String text) {
        assertThatThrownBy(() -> InstantParser.parse(text)).isInstanceOf(DateTimeException.class);
    }
}
