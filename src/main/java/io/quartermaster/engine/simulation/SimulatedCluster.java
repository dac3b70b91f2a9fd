package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** State of a simulated cell, which a shell would keep in its tables: pools, nodes and the state of each workload. */
final class SimulatedCluster {
    final SortedMap<PoolId, Pool> pools = new TreeMap<>();
    final SortedMap<NodeId, Node> nodes = new TreeMap<>();
    final SortedMap<WorkloadId, Workload> workloads = new TreeMap<>();
    final SortedSet<WorkloadId> preempted = new TreeSet<>();

    /** The allocation of a workload; empty if it waits, has ended or is unknown. */
    Optional<Allocation> allocation(WorkloadId id) {
        Workload workload = workloads.get(id);
        return workload != null && workload.state() instanceof WorkloadPhase.Holding holding
                ? Optional.of(holding.allocation())
                : Optional.empty();
    }

    boolean runs(WorkloadId id) {
        return allocation(id).isPresent();
    }

    boolean waits(WorkloadId id) {
        Workload workload = workloads.get(id);
        return workload != null && workload.state() instanceof WorkloadPhase.Waiting;
    }

    SortedSet<WorkloadId> running() {
        SortedSet<WorkloadId> running = new TreeSet<>(workloads.keySet());
        running.removeIf(id -> !runs(id));
        return running;
    }

    long usedInPool(PoolId pool) {
        long used = 0;
        for (WorkloadId id : workloads.keySet()) {
            Optional<Allocation> allocation = allocation(id);
            boolean here = allocation.isPresent() && allocation.get().pool().equals(pool);
            used += here ? allocation.get().gpuMilli() : 0;
        }
        return used;
    }

    long capacityGpuMilli(Pool pool) {
        return switch (pool.capacity()) {
            case Pool.Capacity.Count count -> count.gpuMilli();
            case Pool.Capacity.Nodes capped -> {
                long up = 0;
                for (Node node : nodes.values()) {
                    up += node.up() && node.pool().equals(pool.id())
                            ? node.devices().size() * 1000L
                            : 0;
                }
                yield Math.min(up, capped.maxGpuMilli().orElse(Long.MAX_VALUE));
            }
        };
    }
}
