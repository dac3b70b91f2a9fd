package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.WorkloadMix;
import io.quartermaster.engine.quota.UsageView;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/** The capacity of one pool. */
public sealed interface PoolCapacity permits CounterPool, NodePool {

    Pool pool();

    /** The capacity that is up, at most the pool's cap. */
    long capacityGpuMilli();

    /**
     * The amount held outside the capacity in a view: on lost or unknown nodes, on GPUs that their node no longer
     * reports, and beyond the pool's cap or count. It counts only as use of its holders and takes nothing from other
     * work.
     */
    long heldBeyondCapacityGpuMilli(UsageView view);

    /** The free amount on nodes that take new work. */
    long freeGpuMilli(Availability availability);

    /** The number of GPUs without any holder on nodes that take new work. */
    long untouchedGpus(Availability availability);

    /**
     * The single need of a request that the pool cannot meet even with every known node up and empty, as a clause.
     * Empty if no single need is the cause.
     */
    Optional<String> unmetNeed(PlacementRequest placementRequest);

    /** The room on each node that takes new work, in the order of the ids; none if the pool has no nodes. */
    List<FreeDevices> freeDevices();

    /** The room on one node; empty if the node takes no new work, or if the pool has no nodes. */
    Optional<FreeDevices> freeDevices(NodeId node);

    /** The free amount on one node; 0 if the node takes no new work, or if the pool has no nodes. */
    long freeGpuMilli(NodeId node, Availability availability);

    /**
     * Whether another GPU of the node than the given one will have room beside parts that the tenant's work may join.
     */
    boolean isSharedBeside(NodeId node, int device, String tenant);

    /**
     * The amount that one worker counts as while it waits; a share of memory counts as its part of the smallest GPU.
     */
    long gpuMilliOf(GpuRequest gpus);

    /** A place for all workers of the request together, or none. */
    Optional<Allocation> place(PlacementRequest placementRequest, Availability availability);

    /**
     * Whether the request might fit into the projected free capacity if all work were rearranged. False only if it
     * certainly cannot.
     */
    boolean couldFitRearranged(PlacementRequest placementRequest);

    /**
     * The areas in which room might be made if it cannot be made in the pool as a whole, the emptiest first. They are
     * single nodes for one worker, and domains for workers that must or should be together.
     */
    List<SortedSet<NodeId>> candidateDomains(PlacementRequest placementRequest);

    /**
     * A node that lacks free GPUs.
     *
     * @param gpus how many more of its GPUs would have to be untouched
     */
    record Lack(NodeId node, int gpus) {}

    /**
     * The node that lacks the fewest GPUs for a request of one worker. Empty for other requests, and if the pool has no
     * nodes.
     */
    Optional<Lack> lackingLeast(PlacementRequest placementRequest, Availability availability);

    /**
     * The capacity that is free now and that a mix of work could not use, on average over its kinds; 0 if the pool has
     * no nodes.
     */
    long unusableGpuMilli(WorkloadMix workloadMix);

    /** Whether the request fits when every known node is up and empty. */
    boolean couldEverFit(PlacementRequest placementRequest);

    /** Whether the request fits without any bookings, with the nodes as they are now. */
    boolean fitsOnceEmpty(PlacementRequest placementRequest);

    /** Whether some nodes take no new work, or new work of one tenant only. */
    boolean hasClosedNodes();

    /** Whether some nodes take new work of one tenant only. */
    boolean hasNodesOfOneTenant();

    /**
     * Whether the request fits only on nodes that are closed to new work of its tenant, even when all nodes are empty.
     * A closed node counts although it is down; another node that is down does not.
     */
    boolean isOnlyForClosedNodes(PlacementRequest placementRequest);

    /** Whether the request would fit now if the nodes that are up were open to new work of its tenant. */
    boolean wouldFitIfNodesWereOpen(PlacementRequest placementRequest);

    /** Whether a place that was chosen earlier still fits. */
    boolean fits(Booking booking, Availability availability);

    /** The free part of a place, worker by worker, in whole devices or parts; empty if nothing is free. */
    Optional<Booking> freePart(Booking booking, Availability availability);

    /** Whether no backfill reservation holds devices of the pool. */
    boolean isFreeOfReservations();

    /** Changes whenever other reservations bind the work that asks for devices of the pool. */
    long reservationVersion();

    /** Records that other reservations bind work than before. */
    void recordReservationChange();

    /** Holds devices for a backfill reservation. */
    void reserve(Booking booking);

    /** Undoes {@link #reserve}; no capacity counts as freed. */
    void unreserve(Booking booking);

    /** Registers a signature, which from then on learns of freed capacity that may serve it. */
    void register(RequestSignature requestSignature);

    void add(Booking booking, UsageView view);

    /** Undoes {@link #add}. Requests that did not fit before may fit from then on. */
    void remove(Booking booking, UsageView view);

    /** Undoes {@link #add} on trial, so that no capacity counts as freed. */
    void takeBack(Booking booking, UsageView view);
}
