package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
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
 * @param onlyTenant the one tenant whose work may start on it; absent = any. What runs on it stays.
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
        List<String> topology,
        Optional<String> onlyTenant) {

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

    /** A node that takes work of every tenant. */
    public Node(
            NodeId id,
            PoolId pool,
            boolean up,
            boolean schedulable,
            List<Device> devices,
            OptionalLong cpuMilli,
            OptionalLong memoryMiB,
            SortedMap<String, String> labels,
            List<String> topology) {
        this(id, pool, up, schedulable, devices, cpuMilli, memoryMiB, labels, topology, Optional.empty());
    }

    /** Whether an open node would take work of a tenant. */
    public boolean takesWorkOf(String tenant) {
        return onlyTenant.isEmpty() || onlyTenant.get().equals(tenant);
    }

    /** The same node as if nothing were wrong with it. */
    public Node upAndSchedulable() {
        return with(true, true, onlyTenant);
    }

    /** The same node, lost. */
    public Node down() {
        return with(false, schedulable, onlyTenant);
    }

    /** The same node, not lost. */
    public Node notDown() {
        return with(true, schedulable, onlyTenant);
    }

    /** The same node, cordoned or not. */
    public Node withSchedulable(boolean takesNewWork) {
        return with(up, takesNewWork, onlyTenant);
    }

    /** The same node, which takes new work of one tenant only. */
    public Node onlyFor(String tenant) {
        return with(up, schedulable, Optional.of(tenant));
    }

    /** The same node, neither cordoned nor for one tenant only. */
    public Node open() {
        return with(up, true, Optional.empty());
    }

    /** The same node with so many more GPUs, like the last that it has. */
    public Node withMoreDevices(int count) {
        List<Device> more = new ArrayList<>(devices);
        for (int i = 0; i < count; i++) {
            Device last = more.isEmpty() ? new Device(0, "", 0, false) : more.getLast();
            more.add(more.isEmpty() ? last : new Device(last.index() + 1, last.model(), last.memoryMiB(), last.mig()));
        }
        return new Node(id, pool, up, schedulable, more, cpuMilli, memoryMiB, labels, topology, onlyTenant);
    }

    private Node with(boolean nowUp, boolean nowSchedulable, Optional<String> tenant) {
        return new Node(id, pool, nowUp, nowSchedulable, devices, cpuMilli, memoryMiB, labels, topology, tenant);
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
