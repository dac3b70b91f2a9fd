package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.Commands;
import io.quartermaster.agent.supervisor.Pausing;
import io.quartermaster.agent.supervisor.ProcessGroup;

import com.sun.management.OperatingSystemMXBean;
import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Inventory.PausedBy;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** What this machine has, looked at now and then on a thread of its own, because a driver in trouble may hang. */
final class Machine implements AutoCloseable {
    private final AgentConfig config;
    private final Optional<Pausing> pausing;
    private final Gpus gpus;
    private final Thread looking;
    private volatile Inventory inventory;

    Machine(AgentConfig config, Optional<Pausing> pausing) {
        this.config = config;
        this.pausing = pausing;
        this.gpus = switch (config.devices()) {
            case Devices.Real() -> new Gpus.Nvidia(config.log());
            case Devices.Simulated(int count, String model, long memoryMiB, boolean mig) ->
                new Gpus.Simulated(config.node(), count, model, memoryMiB, mig);
        };
        this.inventory = look();
        this.looking = Thread.ofPlatform().daemon().name("devices").start(this::keepLooking);
    }

    /** How work is paused on this machine; empty where it is not. */
    static Optional<Pausing> pausing(AgentConfig config) {
        AgentConfig.Paused paused = config.paused();
        if (paused.most() == 0 || !ProcessGroup.seesAll()) {
            return Optional.empty();
        }
        return switch (config.devices()) {
            case Devices.Simulated simulated -> Optional.of(new Pausing(Optional.empty()));
            case Devices.Real() -> {
                Optional<Path> program = paused.cudaCheckpoint()
                        .or(() -> Commands.find("cuda-checkpoint").map(Path::of));
                Optional<Path> usable = program.filter(Pausing::knowsActions);
                if (program.isPresent() && usable.isEmpty()) {
                    config.log().accept("work is not paused here: %s knows no --action".formatted(program.get()));
                }
                yield usable.map(found -> new Pausing(Optional.of(found)));
            }
        };
    }

    /** Of its devices, by index. */
    List<String> deviceIds() {
        return inventory.devices().stream().map(Inventory.Device::uuid).toList();
    }

    Inventory inventory() {
        return inventory;
    }

    private void keepLooking() {
        try {
            while (true) {
                TimeUnit.MILLISECONDS.sleep(config.pace().deviceMillis());
                inventory = look();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Inventory look() {
        OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
        List<Inventory.Device> devices = gpus.look();
        return new Inventory(
                devices,
                system.getAvailableProcessors() * 1_000,
                system.getTotalMemorySize() >> 20,
                config.isolation(),
                config.trustsTenants(),
                gpus.simulated(),
                pausing(devices));
    }

    /** Nothing is known of cuda-checkpoint on MIG instances. */
    private Inventory.@Nullable Pausing pausing(List<Inventory.Device> devices) {
        if (pausing.isEmpty() || devices.stream().anyMatch(Inventory.Device::migEnabled)) {
            return null;
        }
        PausedBy by = pausing.get().cudaCheckpoint().isPresent() ? PausedBy.CUDA_CHECKPOINT : PausedBy.SIGNALS;
        return new Inventory.Pausing(by, config.paused().most());
    }

    @Override
    public void close() {
        looking.interrupt();
    }
}
