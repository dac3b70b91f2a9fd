package io.quartermaster.agent;

import com.sun.management.OperatingSystemMXBean;
import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.protocol.Inventory;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** What this machine has, looked at now and then on a thread of its own, because a driver in trouble may hang. */
final class Machine implements AutoCloseable {
    private final AgentConfig config;
    private final Gpus gpus;
    private final Thread looking;
    private volatile Inventory inventory;

    Machine(AgentConfig config) {
        this.config = config;
        this.gpus = switch (config.devices()) {
            case Devices.Real() -> new Gpus.Nvidia(config.log());
            case Devices.Simulated(int count, String model, long memoryMiB) ->
                new Gpus.Simulated(config.node(), count, model, memoryMiB);
        };
        this.inventory = look();
        this.looking = Thread.ofPlatform().daemon().name("devices").start(this::keepLooking);
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
        return new Inventory(
                gpus.look(),
                system.getAvailableProcessors() * 1_000,
                system.getTotalMemorySize() >> 20,
                config.isolation(),
                config.trustsTenants(),
                gpus.simulated());
    }

    @Override
    public void close() {
        looking.interrupt();
    }
}
