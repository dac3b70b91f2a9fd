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
 * The hardware and the abilities of a node.
 *
 * @param devices by index, ascending
 * @param cpuMilli thousandths of a processor that the agent sees
 * @param isolation how the node isolates the work of different tenants
 * @param trustsTenants whether the operator allows several tenants on this node although {@code isolation} is
 *     {@link Isolation#NONE}; for demonstrations
 * @param simulated whether the devices are simulated: work runs, but without GPUs
 * @param pausing how this node pauses work; null if it cannot
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
     * The node's ability to pause work.
     *
     * @param most the most attempts that are paused at a time: each keeps its main memory, and there also the content
     *     of its devices' memory
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

    /** The step that follows the stopping of the processes. */
    public enum PausedBy {
        /** No further step: the devices are simulated, and hold no memory. */
        @JsonProperty("signals")
        @JsonEnumDefaultValue
        SIGNALS,
        /** The program cuda-checkpoint moves the memory of NVIDIA devices to main memory. */
        @JsonProperty("cuda-checkpoint")
        CUDA_CHECKPOINT
    }

    /** How the node isolates work. A node with {@code NONE} may only be in a pool of one tenant. */
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
     * @param index as the driver counts, in the order of the PCI bus
     * @param model as the driver names it, such as {@code NVIDIA H200}
     * @param migEnabled whether the device is in MIG mode
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
