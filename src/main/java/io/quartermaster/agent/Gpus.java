package io.quartermaster.agent;

import io.quartermaster.agent.protocol.Inventory.Device;
import io.quartermaster.agent.supervisor.Commands;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The devices of this machine. A known device stays listed, as unhealthy, when the driver no longer reports it or no
 * longer answers: a GPU that fell off the bus is a fault, not a smaller machine.
 */
sealed interface Gpus {
    /** Reads the devices, by ascending index. May take seconds, since it queries the driver. */
    List<Device> scan();

    boolean simulated();

    /** Simulated devices, for machines without GPUs. Their ids are the same after a restart. */
    record Simulated(String node, int count, String model, long memoryMiB, boolean mig) implements Gpus {
        @Override
        public List<Device> scan() {
            List<Device> devices = new ArrayList<>();
            for (int index = 0; index < count; index++) {
                devices.add(new Device(index, "SIM-%s-%d".formatted(node, index), model, memoryMiB, true, mig));
            }
            return List.copyOf(devices);
        }

        @Override
        public boolean simulated() {
            return true;
        }
    }

    /** The devices that {@code nvidia-smi} reports; none if the program is missing. */
    final class Nvidia implements Gpus {
        private static final long COMMAND_TIMEOUT_MILLIS = 20_000;

        private final Consumer<String> log;
        private final SortedMap<Integer, Device> knownDevices = new TreeMap<>();
        private String lastFailure = "";

        Nvidia(Consumer<String> log) {
            this.log = log;
        }

        @Override
        public boolean simulated() {
            return false;
        }

        @Override
        public synchronized List<Device> scan() {
            SortedMap<Integer, Device> found = new TreeMap<>();
            String failure = "";
            try {
                String program = Commands.find("nvidia-smi").orElse("");
                if (!program.isEmpty()) {
                    String lines = Commands.output(
                            COMMAND_TIMEOUT_MILLIS,
                            program,
                            "--query-gpu=index,uuid,name,memory.total,mig.mode.current",
                            "--format=csv,noheader,nounits");
                    parse(lines).forEach(device -> found.put(device.index(), device));
                }
            } catch (IOException e) {
                failure = "the driver does not answer: " + e.getMessage();
            }
            if (!failure.equals(lastFailure)) {
                log.accept(failure.isEmpty() ? "the driver answers again" : failure);
                lastFailure = failure;
            }
            knownDevices.replaceAll((index, device) -> unhealthy(device));
            knownDevices.putAll(found);
            return List.copyOf(knownDevices.values());
        }

        private static Device unhealthy(Device device) {
            return new Device(
                    device.index(), device.uuid(), device.model(), device.memoryMiB(), false, device.migEnabled());
        }

        /**
         * Parses lines such as {@code 0, GPU-5a2c..., NVIDIA H200, 143771, Disabled}; ignores others, such as errors.
         */
        static List<Device> parse(String lines) {
            List<Device> devices = new ArrayList<>();
            for (String line : lines.lines().toList()) {
                String[] fields = line.split(",\\s*", -1);
                if (fields.length == 5 && fields[0].strip().matches("\\d{1,4}") && fields[1].startsWith("GPU-")) {
                    // The memory is "[N/A]" if GPU and CPU share it; so is the mode if the model does not support MIG.
                    boolean hasMemory = fields[3].strip().matches("\\d{1,12}");
                    devices.add(new Device(
                            Integer.parseInt(fields[0].strip()),
                            fields[1].strip(),
                            fields[2].strip(),
                            hasMemory ? Long.parseLong(fields[3].strip()) : 0,
                            true,
                            fields[4].strip().equals("Enabled")));
                }
            }
            return List.copyOf(devices);
        }
    }
}
