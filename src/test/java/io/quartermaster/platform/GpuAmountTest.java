package io.quartermaster.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class GpuAmountTest {

    @Test
    void whatIsAskedForIsBounded() {
        assertThat(GpuAmount.parse("1000000").milli()).isEqualTo(GpuAmount.MAX_MILLI);
        for (String refused : List.of("1000000.001", "-0.001", "0.0001", "1e30", "many", "")) {
            assertThatThrownBy(() -> GpuAmount.parse(refused))
                    .as(refused)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(GpuAmount.ACCEPTED);
        }
    }

    @Test
    void whatIsToldIsNot() {
        assertThat(new GpuAmount(3 * GpuAmount.MAX_MILLI)).hasToString("3000000");
        assertThat(new GpuAmount(-1250)).hasToString("-1.25");
    }
}
