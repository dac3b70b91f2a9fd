package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.WorkloadMix;
import io.quartermaster.engine.quota.View;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/** The room of one pool. */
public sealed interface PoolCapacity permits CounterPool, NodePool {

    Pool pool();

    /** What is up, and not beyond the pool's cap. */
    long capacityGpuMilli();

    /**
     * What is held and is no part of the capacity: on nodes that are lost or not known any more, on GPUs that
     * their node does not offer any more, and beyond the pool's cap or count. It counts nowhere but in the books
     * of those who hold it; it takes nothing from others.
     */
    long heldBeyondCapacityGpuMilli();

    /** What is free on nodes that take new work. */
    long freeGpuMilli(Availability availability);

    /** How many GPUs that take new work nobody holds a part of. */
    long untouchedGpus(Availability availability);

    /** Which need of a request the pool cannot meet with every known node up and empty, in words; empty where it is not one alone. */
    Optional<String> unmetNeed(PlacementRequest placementRequest);

    /** What is free on one node; nothing where it takes no new work, or nodes do not matter. */
    long freeGpuMilli(NodeId node, Availability availability);

    /** Whether on another GPU of a node than the one given there will be something left beside parts that a tenant's work may join. */
    boolean isSharedBeside(NodeId node, int device, String tenant);

    /** What one worker counts as while it waits; a share of memory counts as its part of the smallest GPU. */
    long gpuMilliOf(GpuRequest gpus);

    /** A place for all workers of the request together, or none. */
    Optional<Allocation> place(PlacementRequest placementRequest, Availability availability);

    /** Whether the request might fit in what will be free if all that is held were rearranged; says no only where it could not. */
    boolean couldFitRearranged(PlacementRequest placementRequest);

    /**
     * Parts of the pool in which room might be made when it cannot be made anywhere: single nodes for one worker,
     * domains for workers that must or should be together; the one with the most free room first.
     */
    List<SortedSet<NodeId>> candidateDomains(PlacementRequest placementRequest);

    /**
     * A node on which something is missing.
     *
     * @param gpus how many more of its GPUs would have to be untouched
     */
    record Lack(NodeId node, int gpus) {}

    /** The node on which the fewest GPUs are missing for a request of one worker; empty for others, and where nodes do not matter. */
    Optional<Lack> lackingLeast(PlacementRequest placementRequest, Availability availability);

    /** What is free at once that a mix of work could not use, on average over its kinds; 0 where nodes do not matter. */
    long unusableGpuMilli(WorkloadMix workloadMix);

    /** Whether the request fits when every known node is up and empty. */
    boolean couldEver(PlacementRequest placementRequest);

    /** Whether the request fits once nothing is held, with the nodes as they are now. */
    boolean fitsOnceEmpty(PlacementRequest placementRequest);

    /** Whether some nodes take no new work, or that of one tenant only. */
    boolean hasClosedNodes();

    /** Whether some nodes take new work of one tenant only. */
    boolean hasNodesOfOneTenant();

    /**
     * Whether the request fits only on nodes that are closed to new work of its tenant, even when all nodes are empty. A
     * closed node counts although it is down; another node that is down does not.
     */
    boolean isOnlyForClosedNodes(PlacementRequest placementRequest);

    /** Whether the request would fit at once if the nodes that are up were open to new work of its tenant. */
    boolean wouldFitIfNodesWereOpen(PlacementRequest placementRequest);

    /** Whether a place given earlier still fits. */
    boolean fits(Booking booking, Availability availability);

    /** What of a place is free at a horizon: whole devices or parts, worker by worker; empty if nothing is. */
    Optional<Booking> freePart(Booking booking, Availability availability);

    /** Makes a kind of requests known, which is told from then on when something comes free for it. */
    void register(RequestSignature requestSignature);

    void add(Booking booking, View view);

    /** Undoes {@link #add}. */
    void remove(Booking booking, View view);
}
