package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptOrder.DeviceShare;
import io.quartermaster.agent.protocol.AttemptOrder.MigInstance;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.supervisor.WorkRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WorkEnvironmentTest {

    private static final AttemptOrder INSTANCES = Orders.shell(
            "true",
            order -> order.devices = List.of(
                    new DeviceShare(3, 142, new MigInstance("1g.10gb", 4)),
                    new DeviceShare(3, 142, new MigInstance("1g.10gb", 5))));

    @Test
    void workIsToldItsInstancesAndSeesTheirDeviceOnce(@TempDir Path folder) throws Exception {
        try (StateFolder state = StateFolder.open(folder)) {
            WorkRecord work = environment(state, true).describe(INSTANCES, List.of());

            assertThat(work.environment())
                    .containsEntry("QM_MIG", "3:1g.10gb:4,3:1g.10gb:5")
                    .containsEntry("CUDA_VISIBLE_DEVICES", "3");
        }
    }

    @Test
    void aRealGpuIsNotCutSoWorkThatIsToHaveAnInstanceDoesNotStart(@TempDir Path folder) throws Exception {
        try (StateFolder state = StateFolder.open(folder)) {
            WorkEnvironment environment = environment(state, false);
            WorkRecord work = environment.describe(INSTANCES, List.of());

            assertThatThrownBy(() -> environment.prepare(INSTANCES, work))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("MIG instance");
        }
    }

    private static WorkEnvironment environment(StateFolder state, boolean simulated) throws IOException {
        return new WorkEnvironment(
                state,
                Launcher.forMachine(Isolation.NONE, new Confinement.None()),
                false,
                simulated,
                1_024,
                Optional.empty(),
                20);
    }
}
