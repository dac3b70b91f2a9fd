package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PausingTest {
    private static final List<String> UUIDS = List.of("GPU-a", "GPU-b", "GPU-c", "GPU-d");

    @Test
    void isReadAsItIsWritten() {
        for (Pausing pausing :
                List.of(new Pausing(Optional.empty()), new Pausing(Optional.of(Path.of("/opt/cuda-checkpoint"))))) {
            assertThat(Pausing.parse(pausing.toString())).isEqualTo(pausing);
        }
    }

    @Test
    void theSameDevicesNeedNoMap() {
        assertThat(Pausing.deviceMap(UUIDS, List.of(1, 2), List.of(1, 2))).isEmpty();
    }

    @Test
    void aMapNamesEveryDeviceOfTheNodeOnce() {
        assertThat(Pausing.deviceMap(UUIDS, List.of(0), List.of(2)))
                .isEqualTo("GPU-a=GPU-c,GPU-b=GPU-b,GPU-d=GPU-d,GPU-c=GPU-a");
        assertThat(Pausing.deviceMap(UUIDS, List.of(0, 1), List.of(1, 3)))
                .isEqualTo("GPU-a=GPU-b,GPU-b=GPU-d,GPU-c=GPU-c,GPU-d=GPU-a");
    }
}
