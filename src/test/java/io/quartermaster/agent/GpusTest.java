package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.agent.protocol.Inventory.Device;
import org.junit.jupiter.api.Test;

class GpusTest {
    @Test
    void readsWhatTheDriverSays() {
        assertThat(Gpus.Nvidia.parse("""
                        0, GPU-6e0a1f7c-0b1d-7a8e-5d54-1f1b6e6a9d11, NVIDIA H200, 143771, Disabled
                        1, GPU-0d5f7b34-9f2a-4c58-8a0e-2b9e1d1c7f22, NVIDIA H200, 143771, Enabled
                        """))
                .containsExactly(
                        new Device(0, "GPU-6e0a1f7c-0b1d-7a8e-5d54-1f1b6e6a9d11", "NVIDIA H200", 143_771, true, false),
                        new Device(1, "GPU-0d5f7b34-9f2a-4c58-8a0e-2b9e1d1c7f22", "NVIDIA H200", 143_771, true, true));
    }

    @Test
    void aModelThatSharesItsMemoryOrKnowsNoMigIsStillADevice() {
        assertThat(Gpus.Nvidia.parse("0, GPU-1, NVIDIA GB10, [N/A], [N/A]\n"))
                .containsExactly(new Device(0, "GPU-1", "NVIDIA GB10", 0, true, false));
    }

    @Test
    void linesThatAreErrorsAreNoDevices() {
        assertThat(Gpus.Nvidia.parse("Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.\n\n"))
                .isEmpty();
        assertThat(Gpus.Nvidia.parse("No devices were found\n")).isEmpty();
    }

    @Test
    void simulatedDevicesAreTheSameAfterARestart() {
        Gpus before = new Gpus.Simulated("n1", 3, "H100", 81_920, false);
        Gpus after = new Gpus.Simulated("n1", 3, "H100", 81_920, false);

        assertThat(before.scan()).hasSize(3).isEqualTo(after.scan());
    }
}
