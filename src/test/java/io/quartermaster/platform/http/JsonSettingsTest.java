package io.quartermaster.platform.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import io.quartermaster.platform.GpuAmount;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonSettingsTest {

    enum Isolation {
        CONTAINER,
        OS_USER
    }

    record Sample(
            Isolation isolation,
            Duration grace,
            GpuAmount reserved,
            @Nullable String absent) {}

    private final ObjectMapper json = JsonSettings.newMapper();

    @Test
    void writesWordsDurationsAndAmountsAsTextAndLeavesNullsOut() throws JsonProcessingException {
        var sample = new Sample(Isolation.OS_USER, Duration.ofSeconds(90), new GpuAmount(250), null);

        String text = json.writeValueAsString(sample);

        assertThat(text).isEqualTo("{\"isolation\":\"os-user\",\"grace\":\"PT1M30S\",\"reserved\":\"0.25\"}");
        assertThat(json.readValue(text, Sample.class)).isEqualTo(sample);
    }

    @Test
    void refusesAMisspeltField() {
        assertThatThrownBy(() -> json.readValue("{\"isolatoin\":\"container\"}", Sample.class))
                .isInstanceOf(UnrecognizedPropertyException.class);
    }

    @Test
    void refusesTheJavaNameAndTheNumberOfAConstant() {
        assertThatThrownBy(() -> json.readValue("{\"isolation\":\"OS_USER\"}", Sample.class))
                .isInstanceOf(JsonProcessingException.class);
        assertThatThrownBy(() -> json.readValue("{\"isolation\":1}", Sample.class))
                .isInstanceOf(JsonProcessingException.class);
    }
}
