package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Amounts;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Mix;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;

/** The room of a pool that is only a number. Labels and topology cannot be asked of it. */
public final class CountedSpace implements Space {
    private final Pool pool;
    private final long capacityGpuMilli;
    private final List<Kind> kinds = new ArrayList<>();
    private long usedNow;
    private long usedNext;

    CountedSpace(Pool pool, Pool.Capacity.Count capacity) {
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
    public long heldBeyondCapacityGpuMilli() {
        return Math.max(0, Math.max(usedNow, usedNext) - capacityGpuMilli());
    }

    @Override
    public long freeGpuMilli(Horizon horizon) {
        long used =
                switch (horizon) {
                    case AT_ONCE -> Math.max(usedNow, usedNext);
                    case LATER -> usedNext;
                    case IGNORING_PROMISES -> usedNow;
                };
        return Math.max(0, capacityGpuMilli - used);
    }

    @Override
    public long untouchedGpus(Horizon horizon) {
        return freeGpuMilli(horizon) / DeviceSpace.WHOLE;
    }

    @Override
    public Optional<String> unmetNeed(Request request) {
        if (!countable(request)) {
            return Optional.of("it asks for labels, topology or GPU memory, and the pool is a plain count of GPUs");
        }
        long needed = request.gpuMilli(this);
        return needed > capacityGpuMilli
                ? Optional.of("it needs " + Amounts.gpus(needed) + ", and the pool has fewer in all")
                : Optional.empty();
    }

    @Override
    public long freeGpuMilli(NodeId node, Horizon horizon) {
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

    /** What one worker counts as in a pool that is only a number. */
    public static long counts(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count() * 1000L;
            case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
            case GpuRequest.Memory memory -> memory.devices() * 1000L;
            case GpuRequest.Mig mig -> mig.computeSlices() * 1000L / 7;
        };
    }

    @Override
    public Optional<Allocation> place(Request request, Horizon horizon) {
        if (!countable(request) || request.gpuMilli(this) > freeGpuMilli(horizon)) {
            return Optional.empty();
        }
        List<Allocation.Worker> workers = new ArrayList<>();
        for (int number : request.numbers()) {
            workers.add(new Allocation.Worker(
                    number,
                    new Allocation.Place.Counted(
                            gpuMilliOf(request.shape().of(number).gpus()))));
        }
        return Optional.of(new Allocation(pool.id(), workers));
    }

    @Override
    public boolean couldFitRearranged(Request request) {
        return freeGpuMilli(Horizon.LATER) >= request.leastGpuMilli();
    }

    @Override
    public List<SortedSet<NodeId>> areas(Request request) {
        return List.of();
    }

    @Override
    public Optional<Lack> lackingLeast(Request request, Horizon horizon) {
        return Optional.empty();
    }

    @Override
    public long unusableGpuMilli(Mix mix) {
        return 0;
    }

    @Override
    public boolean couldEver(Request request) {
        return countable(request) && request.gpuMilli(this) <= capacityGpuMilli;
    }

    @Override
    public boolean fitsOnceEmpty(Request request) {
        return couldEver(request);
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
    public boolean isOnlyForClosedNodes(Request request) {
        return false;
    }

    @Override
    public boolean wouldFitIfNodesWereOpen(Request request) {
        return false;
    }

    private static boolean countable(Request request) {
        return request.shape().isPlain()
                ? isCountable(request)
                : request.shape().together().isEmpty()
                        && request.sets().stream().allMatch(CountedSpace::isCountable);
    }

    private static boolean isCountable(Request request) {
        return request.shape().labels().isEmpty()
                && request.shape().requiredLevel().isEmpty()
                && request.shape().slice().isEmpty()
                && !(request.gpus() instanceof GpuRequest.Memory);
    }

    @Override
    public boolean fits(Tenure tenure, Horizon horizon) {
        return tenure.gpuMilli() <= freeGpuMilli(horizon);
    }

    @Override
    public Optional<Tenure> freePart(Tenure tenure, Horizon horizon) {
        long free = freeGpuMilli(horizon);
        List<Allocation.Worker> workers = new ArrayList<>();
        for (Allocation.Worker worker : tenure.allocation().workers()) {
            long part = Math.min(free, worker.place().gpuMilli());
            if (part > 0) {
                workers.add(new Allocation.Worker(worker.number(), new Allocation.Place.Counted(part)));
                free -= part;
            }
        }
        return workers.isEmpty() ? Optional.empty() : Optional.of(tenure.at(new Allocation(pool.id(), workers)));
    }

    @Override
    public void add(Tenure tenure, When when) {
        change(tenure.gpuMilli(), when);
    }

    @Override
    public void remove(Tenure tenure, When when) {
        change(-tenure.gpuMilli(), when);
    }

    @Override
    public void tell(Kind kind) {
        kinds.add(kind);
    }

    private void change(long gpuMilli, When when) {
        for (Kind kind : gpuMilli < 0 ? kinds : List.<Kind>of()) {
            kind.cameFree(Optional.empty(), Horizon.AT_ONCE);
            kind.cameFree(Optional.empty(), Horizon.IGNORING_PROMISES);
        }
        switch (when) {
            case NOW -> usedNow += gpuMilli;
            case NEXT -> usedNext += gpuMilli;
        }
    }
}
