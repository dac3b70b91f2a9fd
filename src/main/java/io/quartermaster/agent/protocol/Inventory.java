package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.require;
import static io.quartermaster.agent.protocol.Protocol.requireBetween;
import static io.quartermaster.agent.protocol.Protocol.requireLine;
import static io.quartermaster.agent.protocol.Protocol.requireList;
import static io.quartermaster.agent.protocol.Protocol.requirePresent;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the node has.
 *
 * @param devices by index, ascending
 * @param cpuMilli thousandths of a processor that the agent sees
 * @param isolation how work of different tenants is kept apart here
 * @param trustsTenants the operator said that tenants may meet on this node although {@code isolation} is {@link
 *     Isolation#NONE}; for demonstrations
 * @param simulated the devices are made up: work runs, but no GPU does
 * @param pausing how this node can pause work; null where it cannot
 */
public record Inventory(
        List<Device> devices,
        int cpuMilli,
        long memoryMiB,
        Isolation isolation,
        boolean trustsTenants,
        boolean simulated,
        @Nullable Pausing pausing) {
    public Inventory {
        requireList("devices", devices, Protocol.MAX_DEVICES);
        devices = List.copyOf(devices);
        requireEachIndexOnce(devices);
        requireBetween("cpuMilli", cpuMilli, 0, Protocol.MAX_CPU_MILLI);
        requireBetween("memoryMiB", memoryMiB, 0, Protocol.MAX_MEMORY_MIB);
        requirePresent("isolation", isolation, "one of container, os-user, none");
    }

    private static void requireEachIndexOnce(List<Device> devices) {
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < devices.size(); i++) {
            int index = devices.get(i).index();
            require(seen.add(index), "devices[" + i + "].index", index + " a second time", "each index once");
        }
    }

    /**
     * That work can be paused here.
     *
     * @param most attempts that are kept paused at a time: each keeps its main memory, and its devices' memory there
     */
    public record Pausing(
            @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
            PausedBy by,

            int most) {
        public Pausing {
            requirePresent("by", by, "one of signals, cuda-checkpoint");
            requireBetween("most", most, 1, Integer.MAX_VALUE);
        }
    }

    /** What is done beside stopping the processes. */
    public enum PausedBy {
        /** Nothing: the devices are made up, and hold no memory. */
        @JsonProperty("signals")
        @JsonEnumDefaultValue
        SIGNALS,
        /** The memory of NVIDIA devices is moved to the machine's by cuda-checkpoint. */
        @JsonProperty("cuda-checkpoint")
        CUDA_CHECKPOINT
    }

    /** How work is kept apart. A node with {@code NONE} may only be in a pool of one tenant. */
    public enum Isolation {
        @JsonProperty("container")
        CONTAINER,
        @JsonProperty("os-user")
        OS_USER,
        @JsonProperty("none")
        NONE
    }

    /**
     * One GPU.
     *
     * @param index as the driver counts by PCI bus
     * @param model as the driver names it, such as {@code NVIDIA H200}
     * @param migEnabled the device is divided into MIG instances
     */
    public record Device(int index, String uuid, String model, long memoryMiB, boolean healthy, boolean migEnabled) {
        public Device {
            requireBetween("index", index, 0, Protocol.MAX_DEVICES - 1L);
            requireLine("uuid", uuid);
            requireLine("model", model);
            requireBetween("memoryMiB", memoryMiB, 0, Protocol.MAX_MEMORY_MIB);
        }
    }
}
