package io.quartermaster.engine;

import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A machine of a pool.
 *
 * @param up false once it is lost: it counts in no capacity; what it held stays held until reported gone
 * @param schedulable false while cordoned: nothing new starts on it
 * @param devices its GPUs, in order of their index
 * @param cpuMilli thousandths of a core; absent = not limiting
 * @param memoryMiB main memory; absent = not limiting
 * @param topology the domains it lies in, the widest first; as many as the pool has levels, or fewer
 */
public record Node(
        NodeId id,
        PoolId pool,
        boolean up,
        boolean schedulable,
        List<Device> devices,
        OptionalLong cpuMilli,
        OptionalLong memoryMiB,
        SortedMap<String, String> labels,
        List<String> topology) {

    public Node {
        devices = List.copyOf(devices);
        labels = Collections.unmodifiableSortedMap(new TreeMap<>(labels));
        topology = List.copyOf(topology);
        for (int i = 1; i < devices.size(); i++) {
            if (devices.get(i).index() <= devices.get(i - 1).index()) {
                throw new IllegalArgumentException("devices of " + id + " are not in order of their index");
            }
        }
    }

    /** The same node as if nothing were wrong with it. */
    public Node upAndSchedulable() {
        return new Node(id, pool, true, true, devices, cpuMilli, memoryMiB, labels, topology);
    }

    /** The same node, lost. */
    public Node down() {
        return new Node(id, pool, false, schedulable, devices, cpuMilli, memoryMiB, labels, topology);
    }

    /**
     * A GPU.
     *
     * @param model its maker's name, such as {@code H100}; empty when unknown
     * @param memoryMiB 0 when unknown
     * @param mig whether it can be cut into MIG instances
     */
    public record Device(int index, String model, long memoryMiB, boolean mig) {
        public Device {
            if (index < 0 || memoryMiB < 0) {
                throw new IllegalArgumentException("a device has an index and a memory size of at least 0");
            }
        }
    }
}
