package io.quartermaster.workloads.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.platform.http.ProblemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogPositionTest {

    @Test
    void anIdIsReadAsItWasWritten() {
        LogPosition position = LogPosition.parse("2:0:512,2:3:7");

        assertThat(position.id()).isEqualTo("2:0:512,2:3:7");
        assertThat(position.offsets().get(3)).isEqualTo(7);
        assertThat(LogPosition.parseOrNull(" ")).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"7", "1:0", "1:0:0:0", "0:0:1", "1:0:-1", "1:0:1,2:0:1", "a:b:c", "1:0:99999999999999999999", ","
            })
    void aTextThatIsNoIdIsRefused(String text) {
        assertThatThrownBy(() -> LogPosition.parse(text))
                .isInstanceOf(ProblemException.class)
                .hasMessageContaining("Last-Event-ID");
    }
}
