package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** The capacity of one node. */
final class NodeCapacity {
    private static final Availability[] AVAILABILITIES = Availability.values();

    private final Node node;
    private final int position;
    private final SortedSet<NodeId> alone;
    private final List<GpuCapacity> devices = new ArrayList<>();
    private final long[] free = new long[AVAILABILITIES.length];
    private final int[] untouched = new int[AVAILABILITIES.length];
    private final boolean[] partly = new boolean[AVAILABILITIES.length];
    private boolean summedUp;
    private boolean opened;
    private final HostUse now = new HostUse();
    private final HostUse next = new HostUse();

    /** The use of processors and memory. */
    private static final class HostUse {
        private long cpuMilli;
        private long memoryMiB;

        void add(Shape shape, int workers) {
            cpuMilli += workers * shape.cpuMilli();
            memoryMiB += workers * shape.memoryMiB();
        }
    }

    /** The free capacity of a GPU that a tenant shares in parts. */
    record Part(String tenant, int leftGpuMilli) {}

    /** @param position the node's position among the nodes of the pool */
    NodeCapacity(Node node, int position, Pool.Sharing sharing) {
        this.node = node;
        this.position = position;
        this.alone = Collections.unmodifiableSortedSet(new TreeSet<>(List.of(node.id())));
        for (Node.Device device : node.devices()) {
            devices.add(new GpuCapacity(device, sharing));
        }
    }

    Node node() {
        return node;
    }

    int position() {
        return position;
    }

    /** The set that contains only this node. */
    SortedSet<NodeId> alone() {
        return alone;
    }

    /** The GPUs of this node that are shared in parts and have room for more. */
    List<Part> parts(Availability availability) {
        List<Part> parts = new ArrayList<>();
        for (GpuCapacity device : devices) {
            String tenant = device.sharedBy(availability);
            int left = device.freeGpuMilli(availability);
            if (tenant != null && left > 0 && left < GpuCapacity.WHOLE_GPU_MILLI) {
                parts.add(new Part(tenant, left));
            }
        }
        return parts;
    }

    /** Whether another GPU than the given one is shared in parts and open to the tenant. */
    boolean isSharedBeside(int index, String tenant, Availability availability) {
        for (GpuCapacity device : devices) {
            String sharedBy = device.sharedBy(availability);
            boolean joinable = sharedBy != null && (sharedBy.equals(tenant) || sharedBy.equals(GpuCapacity.ANY_TENANT));
            if (device.index() != index && joinable && device.freeGpuMilli(availability) > 0) {
                return true;
            }
        }
        return false;
    }

    /** Whether the node takes new work of some tenant. */
    boolean takesWork() {
        return node.up() && (opened || node.schedulable());
    }

    boolean takesWorkOf(String tenant) {
        return takesWork() && (opened || node.takesWorkOf(tenant));
    }

    /** Sets whether the node takes work as if it were neither cordoned nor reserved for one tenant. */
    void setOpened(boolean asIfOpen) {
        opened = asIfOpen;
    }

    List<GpuCapacity> devices() {
        return devices;
    }

    long freeGpuMilli(Availability availability) {
        sumUp();
        return free[availability.ordinal()];
    }

    /** The number of GPUs of which no part is held. */
    int untouched(Availability availability) {
        sumUp();
        return untouched[availability.ordinal()];
    }

    /** Whether some GPU is shared in parts and has room for more. */
    boolean hasGpuInParts(Availability availability) {
        sumUp();
        return partly[availability.ordinal()];
    }

    /** The free amount of each GPU, in the order of the devices. */
    int[] left(Availability availability) {
        int[] left = new int[devices.size()];
        for (int i = 0; i < left.length; i++) {
            left[i] = devices.get(i).freeGpuMilli(availability);
        }
        return left;
    }

    /** The position of a device in the node's list. */
    int position(int index) {
        for (int i = 0; i < devices.size(); i++) {
            if (devices.get(i).index() == index) {
                return i;
            }
        }
        throw new IllegalArgumentException("no device " + index + " on node " + node.id());
    }

    /** Whether the node has a GPU of one of the models; true if no models are given. */
    boolean hasModel(SortedSet<String> models) {
        boolean has = models.isEmpty();
        for (GpuCapacity device : devices) {
            has = has || models.contains(device.device().model());
        }
        return has;
    }

    /** Free processors in thousandths of a core; practically unlimited if the node does not state its processors. */
    long freeCpuMilli(Availability availability) {
        long taken =
                switch (availability) {
                    case NOW -> Math.max(now.cpuMilli, next.cpuMilli);
                    case AFTER_RELEASES -> next.cpuMilli;
                    case IGNORING_NOMINATIONS -> now.cpuMilli;
                };
        return node.cpuMilli().isPresent() ? node.cpuMilli().getAsLong() - taken : Long.MAX_VALUE / 2;
    }

    /** Free memory after all evicted work has left; practically unlimited if the node does not state its memory. */
    long freeMemoryMiB() {
        return node.memoryMiB().isPresent() ? node.memoryMiB().getAsLong() - next.memoryMiB : Long.MAX_VALUE / 2;
    }

    /** Computes the sums on demand, so that a tentative booking that is undone costs nothing. */
    private void sumUp() {
        if (summedUp) {
            return;
        }
        summedUp = true;
        for (Availability availability : AVAILABILITIES) {
            long freeGpuMilli = 0;
            int count = 0;
            boolean someInParts = false;
            for (GpuCapacity device : devices) {
                int ofDevice = device.freeGpuMilli(availability);
                freeGpuMilli += ofDevice;
                count += ofDevice == GpuCapacity.WHOLE_GPU_MILLI ? 1 : 0;
                someInParts |= ofDevice > 0 && ofDevice < GpuCapacity.WHOLE_GPU_MILLI;
            }
            free[availability.ordinal()] = freeGpuMilli;
            untouched[availability.ordinal()] = count;
            partly[availability.ordinal()] = someInParts;
        }
    }

    /** Whether the node meets the shape's requirements on nodes, regardless of free capacity. */
    boolean suits(Shape shape) {
        return shape.labels().isEmpty()
                || node.labels().entrySet().containsAll(shape.labels().entrySet());
    }

    /** The shares for one worker, or empty if it does not fit here. Work without GPUs gets an empty list. */
    Optional<List<Allocation.Share>> findShares(Shape shape, String tenant, Availability availability) {
        if (!besideFits(shape, availability)) {
            return Optional.empty();
        }
        return switch (shape.gpus()) {
            case GpuRequest.Whole whole ->
                whole.count() > untouched(availability) ? Optional.empty() : wholeDevices(whole, availability);
            case GpuRequest.Fraction fraction -> parts(fraction, fraction.devices(), tenant, availability);
            case GpuRequest.Memory memory -> parts(memory, memory.devices(), tenant, availability);
            case GpuRequest.Mig mig -> parts(mig, 1, tenant, availability);
        };
    }

    private Optional<List<Allocation.Share>> wholeDevices(GpuRequest.Whole whole, Availability availability) {
        List<Allocation.Share> shares = new ArrayList<>(whole.count());
        for (GpuCapacity device : devices) {
            if (shares.size() == whole.count()) {
                break;
            }
            if (device.untouched(availability)) {
                shares.add(Allocation.Share.whole(device.index()));
            }
        }
        return shares.size() == whole.count() ? Optional.of(shares) : Optional.empty();
    }

    private Optional<List<Allocation.Share>> parts(
            GpuRequest gpus, int count, String tenant, Availability availability) {
        if (count == 1) {
            return onePart(gpus, tenant, availability);
        }
        List<GpuCapacity> fullestFirst = new ArrayList<>(devices);
        fullestFirst.sort(Comparator.<GpuCapacity>comparingInt(device -> device.freeGpuMilli(availability))
                .thenComparingInt(GpuCapacity::index));
        List<Allocation.Share> shares = new ArrayList<>(count);
        for (GpuCapacity device : fullestFirst) {
            if (shares.size() < count) {
                device.findShare(gpus, tenant, availability).ifPresent(shares::add);
            }
        }
        shares.sort(Comparator.comparingInt(Allocation.Share::device));
        return shares.size() == count ? Optional.of(shares) : Optional.empty();
    }

    private Optional<List<Allocation.Share>> onePart(GpuRequest gpus, String tenant, Availability availability) {
        Optional<Allocation.Share> best = Optional.empty();
        int least = Integer.MAX_VALUE;
        for (GpuCapacity device : devices) {
            int left = device.freeGpuMilli(availability);
            Optional<Allocation.Share> share =
                    left > 0 && left < least ? device.findShare(gpus, tenant, availability) : Optional.empty();
            least = share.isPresent() ? left : least;
            best = share.isPresent() ? share : best;
        }
        return best.map(List::of);
    }

    /** Like {@link #findShares}, but on the named devices, or on the suitable devices with the lowest indexes. */
    Optional<List<Allocation.Share>> lowest(Shape shape, String tenant, List<Integer> named) {
        int count =
                switch (shape.gpus()) {
                    case GpuRequest.Whole whole -> whole.count();
                    case GpuRequest.Fraction fraction -> fraction.devices();
                    case GpuRequest.Memory memory -> memory.devices();
                    case GpuRequest.Mig mig -> 1;
                };
        List<Allocation.Share> shares = new ArrayList<>(count);
        for (GpuCapacity device : devices) {
            if (shares.size() < count && (named.isEmpty() || named.contains(device.index()))) {
                device.findShare(shape.gpus(), tenant, Availability.NOW).ifPresent(shares::add);
            }
        }
        return shares.size() == count ? Optional.of(shares) : Optional.empty();
    }

    private boolean besideFits(Shape shape, Availability availability) {
        return switch (availability) {
            case NOW -> besideFits(shape, now) && besideFits(shape, next);
            case AFTER_RELEASES -> besideFits(shape, next);
            case IGNORING_NOMINATIONS -> besideFits(shape, now);
        };
    }

    private boolean besideFits(Shape shape, HostUse hostUse) {
        return hostUse.cpuMilli + shape.cpuMilli() <= node.cpuMilli().orElse(Long.MAX_VALUE)
                && hostUse.memoryMiB + shape.memoryMiB() <= node.memoryMiB().orElse(Long.MAX_VALUE);
    }

    /** Whether shares that were chosen earlier fit. */
    boolean fits(Allocation.Place.OnNode place, Booking booking, Availability availability) {
        if (!besideFits(booking.shape(), availability)) {
            return false;
        }
        for (Allocation.Share share : place.shares()) {
            Optional<GpuCapacity> device = device(share.device());
            if (device.isEmpty() || !device.get().fits(share, booking.tenant(), availability)) {
                return false;
            }
        }
        return true;
    }

    /** The shares of a place that are free. Empty if none is free, or if processors or memory are short. */
    Optional<Allocation.Place.OnNode> freePart(
            Allocation.Place.OnNode place, Booking booking, Availability availability) {
        List<Allocation.Share> shares = new ArrayList<>();
        for (Allocation.Share share : place.shares()) {
            Optional<GpuCapacity> device = device(share.device());
            if (device.isPresent() && device.get().fits(share, booking.tenant(), availability)) {
                shares.add(share);
            }
        }
        boolean some = besideFits(booking.shape(), availability)
                && (!shares.isEmpty() || place.shares().isEmpty());
        return some ? Optional.of(new Allocation.Place.OnNode(place.node(), shares)) : Optional.empty();
    }

    /** @return the part of the place on GPUs that the node no longer reports, in thousandths of a GPU */
    long add(Allocation.Place.OnNode place, Booking booking, UsageView view) {
        beside(view).add(booking.shape(), 1);
        long missingGpuMilli = 0;
        for (Allocation.Share share : place.shares()) {
            Optional<GpuCapacity> device = device(share.device());
            device.ifPresent(there -> there.add(share, booking.tenant(), view));
            missingGpuMilli += device.isPresent() ? 0 : share.gpuMilli();
        }
        summedUp = false;
        return missingGpuMilli;
    }

    /** @return the same amount as for {@link #add} */
    long remove(Allocation.Place.OnNode place, Booking booking, UsageView view) {
        beside(view).add(booking.shape(), -1);
        long missingGpuMilli = 0;
        for (Allocation.Share share : place.shares()) {
            Optional<GpuCapacity> device = device(share.device());
            device.ifPresent(there -> there.remove(share, view));
            missingGpuMilli += device.isPresent() ? 0 : share.gpuMilli();
        }
        summedUp = false;
        return missingGpuMilli;
    }

    private HostUse beside(UsageView view) {
        return switch (view) {
            case CURRENT -> now;
            case PROJECTED -> next;
        };
    }

    private Optional<GpuCapacity> device(int index) {
        for (GpuCapacity device : devices) {
            if (device.index() == index) {
                return Optional.of(device);
            }
        }
        return Optional.empty();
    }
}
