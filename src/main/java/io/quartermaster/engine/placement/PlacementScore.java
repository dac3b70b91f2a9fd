package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Pool;
import java.util.List;

/**
 * The score of a node for one worker.
 *
 * @param opened the number of untouched GPUs that it would open for parts
 * @param leftOnDevices the amount left free on the GPUs that it would share
 * @param untouchedLeft the number of the node's GPUs that would stay untouched
 * @param freeLeft the amount left free on the node
 */
record PlacementScore(
        NodeCapacity node,
        List<Allocation.Share> shares,
        int opened,
        long leftOnDevices,
        int untouchedLeft,
        long freeLeft) {

    static PlacementScore of(NodeCapacity node, List<Allocation.Share> shares, Availability availability) {
        int opened = 0;
        int untouchedTaken = 0;
        long leftOnDevices = 0;
        long taken = 0;
        int next = 0;
        for (GpuCapacity device : node.devices()) {
            if (next < shares.size() && shares.get(next).device() == device.index()) {
                Allocation.Share share = shares.get(next++);
                boolean part = share.gpuMilli() < GpuCapacity.WHOLE_GPU_MILLI;
                untouchedTaken += device.untouched(availability) ? 1 : 0;
                opened += part && device.untouched(availability) ? 1 : 0;
                leftOnDevices += part ? device.freeGpuMilli(availability) - share.gpuMilli() : 0;
                taken += share.gpuMilli();
            }
        }
        return new PlacementScore(
                node,
                shares,
                opened,
                leftOnDevices,
                node.untouched(availability) - untouchedTaken,
                node.freeGpuMilli(availability) - taken);
    }

    Allocation.Place place() {
        return new Allocation.Place.OnNode(node.node().id(), shares);
    }

    /**
     * Compares first by how well parts fill a shared GPU. Then the fullest node wins when packing, the emptiest when
     * spreading.
     */
    boolean betterThan(PlacementScore other, Pool.Placement placement) {
        if (opened != other.opened) {
            return opened < other.opened;
        }
        if (leftOnDevices != other.leftOnDevices) {
            return leftOnDevices < other.leftOnDevices;
        }
        boolean pack = placement == Pool.Placement.PACK;
        if (untouchedLeft != other.untouchedLeft) {
            return pack == untouchedLeft < other.untouchedLeft;
        }
        if (freeLeft != other.freeLeft) {
            return pack == freeLeft < other.freeLeft;
        }
        return node.node().id().compareTo(other.node.node().id()) < 0;
    }
}
