package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GpuSuspenderTest {
    private static final List<String> UUIDS = List.of("GPU-a", "GPU-b", "GPU-c", "GPU-d");

    @Test
    void isReadAsItIsWritten() {
        for (GpuSuspender gpuSuspender : List.of(
                new GpuSuspender(Optional.empty()), new GpuSuspender(Optional.of(Path.of("/opt/cuda-checkpoint"))))) {
            assertThat(GpuSuspender.parse(gpuSuspender.toString())).isEqualTo(gpuSuspender);
        }
    }

    @Test
    void theSameDevicesNeedNoMap() {
        assertThat(GpuSuspender.deviceMap(UUIDS, List.of(1, 2), List.of(1, 2))).isEmpty();
    }

    @Test
    void aMapNamesEveryDeviceOfTheNodeOnce() {
        assertThat(GpuSuspender.deviceMap(UUIDS, List.of(0), List.of(2)))
                .isEqualTo("GPU-a=GPU-c,GPU-b=GPU-b,GPU-d=GPU-d,GPU-c=GPU-a");
        assertThat(GpuSuspender.deviceMap(UUIDS, List.of(0, 1), List.of(1, 3)))
                .isEqualTo("GPU-a=GPU-b,GPU-b=GPU-d,GPU-c=GPU-c,GPU-d=GPU-a");
    }
}
