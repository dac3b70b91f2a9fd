package io.quartermaster.engine.preemption;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.placement.FreeDevices;
import java.util.List;

/**
 * The room on one node for one worker after some units have left. It is an upper bound: it ignores who may share a
 * device, and where MIG instances and parts of the memory can be.
 */
final class FreedNode {
    private static final int WHOLE_GPU_MILLI = 1000;

    private final List<Node.Device> devices;
    private final Shape shape;
    private final Node node;
    private final int[] freeGpuMilli;
    private final long initialGpuMilli;
    private long cpuMilli;
    private long memoryMiB;

    FreedNode(FreeDevices free, Shape shape) {
        this.node = free.node();
        this.devices = node.devices();
        this.shape = shape;
        this.freeGpuMilli = free.gpuMilli();
        this.cpuMilli = free.cpuMilli();
        this.memoryMiB = free.memoryMiB();
        long sum = 0;
        for (int gpuMilli : freeGpuMilli) {
            sum += gpuMilli;
        }
        this.initialGpuMilli = sum;
    }

    /** Adds what the workers of a unit on this node release. */
    void release(EvictionUnit evictionUnit) {
        for (Allocation.Worker worker : evictionUnit.workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode on
                    && on.node().equals(node.id())) {
                Shape ofWorker =
                        evictionUnit.candidate().booking().ofWorker(worker).shape();
                cpuMilli += ofWorker.cpuMilli();
                memoryMiB += ofWorker.memoryMiB();
                for (Allocation.Share share : on.shares()) {
                    release(share);
                }
            }
        }
    }

    private void release(Allocation.Share share) {
        for (int i = 0; i < freeGpuMilli.length; i++) {
            if (devices.get(i).index() == share.device()) {
                freeGpuMilli[i] += share.gpuMilli();
            }
        }
    }

    /** Whether the worker may fit if all units together release no more than the given amount. */
    boolean mayFit(long releasedGpuMilli) {
        long needed =
                switch (shape.gpus()) {
                    case GpuRequest.Whole whole -> whole.count() * (long) WHOLE_GPU_MILLI;
                    case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
                    case GpuRequest.Memory memory -> 0;
                    case GpuRequest.Mig mig -> 0;
                };
        return needed <= initialGpuMilli + releasedGpuMilli;
    }

    /** Whether the worker fits, as far as amounts decide. */
    boolean fits() {
        if (shape.cpuMilli() > cpuMilli || shape.memoryMiB() > memoryMiB) {
            return false;
        }
        return switch (shape.gpus()) {
            case GpuRequest.Whole whole -> devicesWith(WHOLE_GPU_MILLI) >= whole.count();
            case GpuRequest.Fraction fraction -> devicesWith(fraction.gpuMilliEach()) >= fraction.devices();
            case GpuRequest.Memory memory -> true;
            case GpuRequest.Mig mig -> true;
        };
    }

    private int devicesWith(int gpuMilli) {
        int count = 0;
        for (int free : freeGpuMilli) {
            count += free >= gpuMilli ? 1 : 0;
        }
        return count;
    }
}
