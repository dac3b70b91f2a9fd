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
 * @param up false once the node is lost: it counts in no capacity; its allocations stay until reported as ended
 * @param schedulable false while the node is cordoned: no new work starts on it
 * @param devices its GPUs, in the order of their index
 * @param cpuMilli thousandths of a core; empty = not limiting
 * @param memoryMiB main memory; empty = not limiting
 * @param topology the domains that contain it, the widest first; at most as many as the pool has levels
 * @param onlyTenant the one tenant whose work may start on it; empty = any. Running work stays
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

    /** Creates a node that accepts work of every tenant. */
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

    /** Whether the node accepts work of a tenant while it is schedulable. */
    public boolean takesWorkOf(String tenant) {
        return onlyTenant.isEmpty() || onlyTenant.get().equals(tenant);
    }

    /** A copy that is up and schedulable. */
    public Node upAndSchedulable() {
        return with(true, true, onlyTenant);
    }

    /** A copy that is lost. */
    public Node down() {
        return with(false, schedulable, onlyTenant);
    }

    /** A copy that is not lost. */
    public Node notDown() {
        return with(true, schedulable, onlyTenant);
    }

    /** A copy that is schedulable, or cordoned. */
    public Node withSchedulable(boolean takesNewWork) {
        return with(up, takesNewWork, onlyTenant);
    }

    /** A copy that accepts new work of one tenant only. */
    public Node onlyFor(String tenant) {
        return with(up, schedulable, Optional.of(tenant));
    }

    /** A copy that is neither cordoned nor dedicated to one tenant. */
    public Node open() {
        return with(up, true, Optional.empty());
    }

    /** A copy with additional GPUs, which equal the last one. */
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
     * @param model the manufacturer's name, such as {@code H100}; empty if unknown
     * @param memoryMiB the memory; 0 if unknown
     * @param mig whether it can be divided into MIG instances
     */
    public record Device(int index, String model, long memoryMiB, boolean mig) {
        public Device {
            if (index < 0 || memoryMiB < 0) {
                throw new IllegalArgumentException("the index and the memory size of a device must not be negative");
            }
        }
    }
}
