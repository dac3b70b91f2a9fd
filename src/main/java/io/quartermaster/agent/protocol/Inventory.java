package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;
import static io.quartermaster.agent.protocol.Protocol.isLine;

import com.fasterxml.jackson.annotation.JsonEnumDefaultValue;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
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
        devices = List.copyOf(devices);
        check(devices.size() <= Protocol.MAX_DEVICES, "devices: at most %s", Protocol.MAX_DEVICES);
        check(
                devices.stream().mapToInt(Device::index).distinct().count() == devices.size(),
                "devices: two of them have one index");
        check(
                cpuMilli >= 0 && cpuMilli <= Protocol.MAX_CPU_MILLI,
                "cpuMilli must be from 0 to %s, was %s",
                Protocol.MAX_CPU_MILLI,
                cpuMilli);
        checkMemory(memoryMiB);
    }

    private static void checkMemory(long memoryMiB) {
        check(
                memoryMiB >= 0 && memoryMiB <= Protocol.MAX_MEMORY_MIB,
                "memoryMiB must be from 0 to %s, was %s",
                Protocol.MAX_MEMORY_MIB,
                memoryMiB);
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
            check(most >= 1, "most must be at least 1, was %s", most);
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
            check(
                    index >= 0 && index < Protocol.MAX_DEVICES,
                    "device index must be from 0 to %s, was %s",
                    Protocol.MAX_DEVICES - 1,
                    index);
            check(
                    isLine(uuid, Protocol.MAX_WORD),
                    "device %s: its uuid must have from 1 to %s characters, none of them a control character",
                    index,
                    Protocol.MAX_WORD);
            check(
                    isLine(model, Protocol.MAX_WORD),
                    "device %s: its model must have from 1 to %s characters, none of them a control character",
                    index,
                    Protocol.MAX_WORD);
            checkMemory(memoryMiB);
        }
    }
}
