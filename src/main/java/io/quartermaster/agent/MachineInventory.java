package io.quartermaster.agent;

import com.sun.management.OperatingSystemMXBean;
import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Inventory.PausedBy;
import io.quartermaster.agent.supervisor.Commands;
import io.quartermaster.agent.supervisor.GpuSuspender;
import io.quartermaster.agent.supervisor.ProcessGroup;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The inventory of this machine. Its own thread refreshes it from time to time, because a faulty driver may hang. */
final class MachineInventory implements AutoCloseable {
    private final AgentConfig config;
    private final Optional<GpuSuspender> gpuSuspender;
    private final Gpus gpus;
    private final Thread scanner;
    private volatile Inventory inventory;

    MachineInventory(AgentConfig config, Optional<GpuSuspender> gpuSuspender) {
        this.config = config;
        this.gpuSuspender = gpuSuspender;
        this.gpus = switch (config.devices()) {
            case Devices.Real() -> new Gpus.Nvidia(config.log());
            case Devices.Simulated(int count, String model, long memoryMiB, boolean mig) ->
                new Gpus.Simulated(config.node(), count, model, memoryMiB, mig);
        };
        this.inventory = scan();
        this.scanner = Thread.ofPlatform().daemon().name("devices").start(this::scanPeriodically);
    }

    /** The way to pause work on this machine; empty if it cannot. */
    static Optional<GpuSuspender> pausing(AgentConfig config) {
        AgentConfig.PauseSettings paused = config.pauseSettings();
        if (paused.maxPaused() == 0 || !ProcessGroup.seesAll()) {
            return Optional.empty();
        }
        return switch (config.devices()) {
            case Devices.Simulated simulated -> Optional.of(new GpuSuspender(Optional.empty()));
            case Devices.Real() -> {
                Optional<Path> program = paused.cudaCheckpoint()
                        .or(() -> Commands.find("cuda-checkpoint").map(Path::of));
                Optional<Path> usable = program.filter(GpuSuspender::knowsActions);
                if (program.isPresent() && usable.isEmpty()) {
                    config.log().accept("work is not paused here: %s knows no --action".formatted(program.get()));
                }
                yield usable.map(found -> new GpuSuspender(Optional.of(found)));
            }
        };
    }

    /** The ids of its devices, by index. */
    List<String> deviceIds() {
        return inventory.devices().stream().map(Inventory.Device::uuid).toList();
    }

    Inventory inventory() {
        return inventory;
    }

    private void scanPeriodically() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(config.pace().deviceMillis());
                inventory = scan();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Inventory scan() {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        List<Inventory.Device> devices = gpus.scan();
        return new Inventory(
                devices,
                system.getAvailableProcessors() * 1_000,
                system.getTotalMemorySize() >> 20,
                config.isolation(),
                config.trustsTenants(),
                gpus.simulated(),
                pausing(devices));
    }

    /**
     * The report of how work is paused; null with MIG, because the behaviour of cuda-checkpoint on MIG instances is
     * unknown.
     */
    private Inventory.@Nullable Pausing pausing(List<Inventory.Device> devices) {
        if (gpuSuspender.isEmpty() || devices.stream().anyMatch(Inventory.Device::migEnabled)) {
            return null;
        }
        PausedBy by = gpuSuspender.get().cudaCheckpoint().isPresent() ? PausedBy.CUDA_CHECKPOINT : PausedBy.SIGNALS;
        return new Inventory.Pausing(by, config.pauseSettings().maxPaused());
    }

    @Override
    public void close() {
        scanner.interrupt();
    }
}
