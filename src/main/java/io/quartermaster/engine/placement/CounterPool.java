package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.WorkloadMix;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/** The capacity of a pool that is a plain count. A request for labels, topology or GPU memory does not fit in it. */
public final class CounterPool implements PoolCapacity {
    private final Pool pool;
    private final long capacityGpuMilli;
    private final List<RequestSignature> signatures = new ArrayList<>();
    private final ReservedRoom reserved = new ReservedRoom();
    private long usedNow;
    private long usedNext;

    CounterPool(Pool pool, Pool.Capacity.Count capacity) {
        this.pool = pool;
        this.capacityGpuMilli = capacity.gpuMilli();
    }

    @Override
    public Pool pool() {
        return pool;
    }

    @Override
    public long capacityGpuMilli() {
        return pool.hasExecutor() ? capacityGpuMilli : 0;
    }

    @Override
    public long heldBeyondCapacityGpuMilli(UsageView view) {
        long used =
                switch (view) {
                    case CURRENT -> usedNow;
                    case PROJECTED -> usedNext;
                };
        return Math.max(0, used - capacityGpuMilli());
    }

    @Override
    public long freeGpuMilli(Availability availability) {
        long used =
                switch (availability) {
                    case NOW -> Math.max(usedNow, usedNext);
                    case AFTER_RELEASES -> usedNext;
                    case IGNORING_NOMINATIONS -> usedNow;
                };
        return Math.max(0, capacityGpuMilli - used);
    }

    @Override
    public long untouchedGpus(Availability availability) {
        return freeGpuMilli(availability) / GpuCapacity.WHOLE_GPU_MILLI;
    }

    @Override
    public Optional<String> unmetNeed(PlacementRequest placementRequest) {
        if (!countable(placementRequest)) {
            return Optional.of("it needs labels, a topology or GPU memory, and the pool is a plain count of GPUs");
        }
        long needed = placementRequest.gpuMilli(this);
        return needed > capacityGpuMilli
                ? Optional.of("it needs " + GpuFormat.gpus(needed) + ", and the pool has fewer in all")
                : Optional.empty();
    }

    @Override
    public long freeGpuMilli(NodeId node, Availability availability) {
        return 0;
    }

    @Override
    public boolean isSharedBeside(NodeId node, int device, String tenant) {
        return false;
    }

    @Override
    public long gpuMilliOf(GpuRequest gpus) {
        return counts(gpus);
    }

    /** The amount that one worker counts as in a pool that is a plain count. */
    public static long counts(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count() * 1000L;
            case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
            case GpuRequest.Memory memory -> memory.devices() * 1000L;
            case GpuRequest.Mig mig -> mig.computeSlices() * 1000L / 7;
        };
    }

    @Override
    public Optional<Allocation> place(PlacementRequest placementRequest, Availability availability) {
        if (!countable(placementRequest) || placementRequest.gpuMilli(this) > freeGpuMilli(availability)) {
            return Optional.empty();
        }
        List<Allocation.Worker> workers = new ArrayList<>();
        for (int number : placementRequest.numbers()) {
            workers.add(new Allocation.Worker(
                    number,
                    new Allocation.Place.Counted(
                            gpuMilliOf(placementRequest.shape().of(number).gpus()))));
        }
        return Optional.of(new Allocation(pool.id(), workers));
    }

    @Override
    public boolean couldFitRearranged(PlacementRequest placementRequest) {
        return freeGpuMilli(Availability.AFTER_RELEASES) >= placementRequest.leastGpuMilli();
    }

    @Override
    public List<SortedSet<NodeId>> candidateDomains(PlacementRequest placementRequest) {
        return List.of();
    }

    @Override
    public Optional<Lack> lackingLeast(PlacementRequest placementRequest, Availability availability) {
        return Optional.empty();
    }

    @Override
    public long unusableGpuMilli(WorkloadMix workloadMix) {
        return 0;
    }

    @Override
    public boolean couldEverFit(PlacementRequest placementRequest) {
        return countable(placementRequest) && placementRequest.gpuMilli(this) <= capacityGpuMilli;
    }

    @Override
    public boolean fitsOnceEmpty(PlacementRequest placementRequest) {
        return couldEverFit(placementRequest);
    }

    @Override
    public boolean hasClosedNodes() {
        return false;
    }

    @Override
    public boolean hasNodesOfOneTenant() {
        return false;
    }

    @Override
    public boolean isOnlyForClosedNodes(PlacementRequest placementRequest) {
        return false;
    }

    @Override
    public boolean wouldFitIfNodesWereOpen(PlacementRequest placementRequest) {
        return false;
    }

    private static boolean countable(PlacementRequest placementRequest) {
        return placementRequest.shape().isPlain()
                ? isCountable(placementRequest)
                : placementRequest.shape().together().isEmpty()
                        && placementRequest.sets().stream().allMatch(CounterPool::isCountable);
    }

    private static boolean isCountable(PlacementRequest placementRequest) {
        return placementRequest.shape().labels().isEmpty()
                && placementRequest.shape().requiredLevel().isEmpty()
                && placementRequest.shape().slice().isEmpty()
                && !(placementRequest.gpus() instanceof GpuRequest.Memory);
    }

    @Override
    public boolean fits(Booking booking, Availability availability) {
        return booking.gpuMilli() <= freeGpuMilli(availability);
    }

    @Override
    public Optional<Booking> freePart(Booking booking, Availability availability) {
        long free = freeGpuMilli(availability);
        List<Allocation.Worker> workers = new ArrayList<>();
        for (Allocation.Worker worker : booking.allocation().workers()) {
            long part = Math.min(free, worker.place().gpuMilli());
            if (part > 0) {
                workers.add(new Allocation.Worker(worker.number(), new Allocation.Place.Counted(part)));
                free -= part;
            }
        }
        return workers.isEmpty() ? Optional.empty() : Optional.of(booking.at(new Allocation(pool.id(), workers)));
    }

    @Override
    public void add(Booking booking, UsageView view) {
        change(booking.gpuMilli(), view);
    }

    @Override
    public void remove(Booking booking, UsageView view) {
        for (RequestSignature requestSignature : signatures) {
            requestSignature.recordFreedCapacity(Optional.empty(), Availability.NOW);
            requestSignature.recordFreedCapacity(Optional.empty(), Availability.IGNORING_NOMINATIONS);
            requestSignature.recordFreedCapacity(Optional.empty(), Availability.AFTER_RELEASES);
        }
        takeBack(booking, view);
    }

    @Override
    public void takeBack(Booking booking, UsageView view) {
        change(-booking.gpuMilli(), view);
    }

    @Override
    public List<FreeDevices> freeDevices() {
        return List.of();
    }

    @Override
    public Optional<FreeDevices> freeDevices(NodeId node) {
        return Optional.empty();
    }

    @Override
    public boolean isFreeOfReservations() {
        return reserved.isEmpty();
    }

    @Override
    public long reservationVersion() {
        return reserved.version();
    }

    @Override
    public void recordReservationChange() {
        reserved.recordChange();
    }

    @Override
    public void reserve(Booking booking) {
        reserved.hold();
        add(booking, UsageView.PROJECTED);
    }

    @Override
    public void unreserve(Booking booking) {
        reserved.release();
        takeBack(booking, UsageView.PROJECTED);
    }

    @Override
    public void register(RequestSignature requestSignature) {
        signatures.add(requestSignature);
    }

    private void change(long gpuMilli, UsageView view) {
        switch (view) {
            case CURRENT -> usedNow += gpuMilli;
            case PROJECTED -> usedNext += gpuMilli;
        }
    }
}
