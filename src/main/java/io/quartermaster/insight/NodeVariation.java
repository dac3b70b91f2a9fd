package io.quartermaster.insight;

import io.quartermaster.dispatch.read.CellSnapshot;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.insight.SimulationApi.NewNodes;
import io.quartermaster.platform.http.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The changes of nodes in a simulation.
 *
 * @param removed nodes on which no workload can run any more
 */
record NodeVariation(List<Change> changes, Set<NodeId> removed) {

    static NodeVariation of(CellSnapshot snapshot, WhatIfQuestion whatIfQuestion) {
        List<Change> changes = new ArrayList<>();
        Set<NodeId> removed = new TreeSet<>();
        for (int i = 0; i < whatIfQuestion.down().size(); i++) {
            Node node = requireNode(
                    snapshot, "nodes.down[" + i + "]", whatIfQuestion.down().get(i));
            changes.add(new Change.NodeSet(node.down()));
            removed.add(node.id());
        }
        for (int i = 0; i < whatIfQuestion.removed().size(); i++) {
            Node node = requireNode(
                    snapshot,
                    "nodes.removed[" + i + "]",
                    whatIfQuestion.removed().get(i));
            changes.add(new Change.NodeRemoved(node.id()));
            removed.add(node.id());
        }
        int number = 0;
        for (int i = 0; i < whatIfQuestion.added().size(); i++) {
            NewNodes request = whatIfQuestion.added().get(i);
            PoolId pool = new PoolId(String.valueOf(request.pool()));
            requirePoolOfNodes(snapshot, "nodes.added[" + i + "].pool", pool);
            for (int n = 0; n < (request.count() == null ? 1 : request.count()); n++) {
                number++;
                changes.add(new Change.NodeSet(newNode(new NodeId("simulated-%04d".formatted(number)), pool, request)));
            }
        }
        return new NodeVariation(changes, removed);
    }

    private static void requirePoolOfNodes(CellSnapshot snapshot, String field, PoolId name) {
        Pool pool = snapshot.pools().get(name);
        if (pool == null) {
            throw WhatIfBuilder.unknown(field, "there is no such pool", "the name of a pool");
        }
        if (pool.capacity() instanceof Pool.Capacity.Count) {
            throw ProblemException.refused(
                    "pool-is-a-count", field, "pool " + name + " is a plain count", "a pool made of nodes");
        }
    }

    private static Node requireNode(CellSnapshot snapshot, String field, String name) {
        return Optional.ofNullable(snapshot.nodes().get(name))
                .orElseThrow(() -> WhatIfBuilder.unknown(field, "there is no such node", "the name of a node"));
    }

    private static Node newNode(NodeId id, PoolId pool, NewNodes request) {
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < (request.gpus() == null ? 0 : request.gpus()); index++) {
            devices.add(new Node.Device(
                    index,
                    request.model() == null ? "" : request.model(),
                    request.gpuMemoryMiB() == null ? 0 : request.gpuMemoryMiB(),
                    Boolean.TRUE.equals(request.mig())));
        }
        return new Node(
                id,
                pool,
                true,
                true,
                devices,
                optional(request.cpuMilli()),
                optional(request.memoryMiB()),
                request.labels() == null ? new TreeMap<>() : new TreeMap<>(request.labels()),
                request.topology() == null ? List.of() : request.topology());
    }

    private static OptionalLong optional(@Nullable Long value) {
        return value == null ? OptionalLong.empty() : OptionalLong.of(value);
    }

    /** The workloads with those of the removed nodes waiting again, at the head of their queues, as after a loss. */
    List<Workload> withoutRemovedNodes(List<Workload> workloads, long asOfMillis) {
        return removed.isEmpty()
                ? workloads
                : workloads.stream()
                        .map(workload -> withoutRemovedNodes(workload, asOfMillis))
                        .toList();
    }

    private Workload withoutRemovedNodes(Workload workload, long asOfMillis) {
        boolean lost = workload.pinnedNode().filter(removed::contains).isPresent()
                || (workload.state() instanceof WorkloadPhase.Holding holding && usesRemovedNode(holding.allocation()));
        boolean promised = workload.nomination().filter(this::usesRemovedNode).isPresent();
        Workload left = lost ? workload.withState(WorkloadPhase.waitingAgain(asOfMillis)) : workload;
        return lost || promised ? left.withNomination(Optional.empty()) : left;
    }

    private boolean usesRemovedNode(Allocation allocation) {
        return removed.stream().anyMatch(allocation::touches);
    }
}
