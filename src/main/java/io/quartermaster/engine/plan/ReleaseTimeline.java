package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.FreeDevices;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.state.Release;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/**
 * The free amounts of all devices of a pool while running work ends one after the other. It finds the number of ended
 * workloads after which a request may fit, without booking anything. The amounts are an upper bound: labels, tenants
 * and topology are left to the placement itself.
 */
final class ReleaseTimeline {
    private static final int WHOLE_GPU_MILLI = 1000;

    /** The tries of single numbers, after which the smallest one is searched by bisection. */
    private static final int MAX_SINGLE_TRIES = 6;

    private final List<Release> releases;
    private final SortedMap<NodeId, Room> rooms = new TreeMap<>();

    /** The room on one node, which changes while the time passes, and what reservations want of it. */
    private static final class Room {
        private final Map<Integer, Integer> positions = new HashMap<>();
        private final int[] free;
        private final int[] reserved;
        private long cpuMilli;
        private long memoryMiB;
        private long reservedCpuMilli;
        private long reservedMemoryMiB;

        Room(FreeDevices devices) {
            free = devices.gpuMilli().clone();
            reserved = new int[free.length];
            cpuMilli = devices.cpuMilli();
            memoryMiB = devices.memoryMiB();
            List<Node.Device> all = devices.node().devices();
            for (int i = 0; i < all.size(); i++) {
                positions.put(all.get(i).index(), i);
            }
        }

        void release(Allocation.Place.OnNode place, Shape shape, int sign) {
            add(free, place, sign);
            cpuMilli += sign * shape.cpuMilli();
            memoryMiB += sign * shape.memoryMiB();
        }

        void addReservation(Allocation.Place.OnNode place, Shape shape) {
            add(reserved, place, 1);
            reservedCpuMilli += shape.cpuMilli();
            reservedMemoryMiB += shape.memoryMiB();
        }

        private void add(int[] amounts, Allocation.Place.OnNode place, int sign) {
            for (Allocation.Share share : place.shares()) {
                Integer position = positions.get(share.device());
                if (position != null) {
                    amounts[position] += sign * share.gpuMilli();
                }
            }
        }

        /** The number of workers that may fit. A reservation certainly holds its part of a device that is all free. */
        int workers(Shape shape) {
            if (shape.cpuMilli() > cpuMilli || shape.memoryMiB() > memoryMiB) {
                return 0;
            }
            boolean allHold = reservedCpuMilli <= cpuMilli && reservedMemoryMiB <= memoryMiB;
            int parts = 0;
            for (int i = 0; i < free.length; i++) {
                int usable = allHold && free[i] == WHOLE_GPU_MILLI ? WHOLE_GPU_MILLI - reserved[i] : free[i];
                parts += switch (shape.gpus()) {
                    case GpuRequest.Whole whole -> usable == WHOLE_GPU_MILLI ? 1 : 0;
                    case GpuRequest.Fraction fraction -> Math.max(0, usable) / fraction.gpuMilliEach();
                    case GpuRequest.Memory memory -> throw new IllegalArgumentException();
                    case GpuRequest.Mig mig -> throw new IllegalArgumentException();
                };
            }
            return parts / devices(shape.gpus());
        }
    }

    ReleaseTimeline(PoolCapacity poolCapacity, List<Release> releases) {
        this.releases = releases;
        poolCapacity.freeDevices().forEach(devices -> rooms.put(devices.node().id(), new Room(devices)));
    }

    private static int devices(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count();
            case GpuRequest.Fraction fraction -> fraction.devices();
            case GpuRequest.Memory memory -> 0;
            case GpuRequest.Mig mig -> 0;
        };
    }

    /** Adds the place of a reservation, which other work does not get. */
    void addReservation(Booking place) {
        for (Allocation.Worker worker : place.allocation().workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode on && rooms.containsKey(on.node())) {
                rooms.get(on.node()).addReservation(on, place.ofWorker(worker).shape());
            }
        }
    }

    /**
     * The smallest number of ended workloads after which there is a place; empty if there never is.
     *
     * @param from a number before which there is no place
     * @param hasPlaceAfter whether there is a place after so many workloads have ended; true from some number on if the
     * shape is plain
     */
    OptionalInt fewestReleases(PlacementRequest placementRequest, int from, IntPredicate hasPlaceAfter) {
        Shape shape = placementRequest.shape();
        if (!shape.isPlain()) {
            for (int ended = from; ended <= releases.size(); ended++) {
                if (hasPlaceAfter.test(ended)) {
                    return OptionalInt.of(ended);
                }
            }
            return OptionalInt.empty();
        }
        if (rooms.isEmpty() || devices(shape.gpus()) == 0) {
            return bisectReleases(from - 1, hasPlaceAfter);
        }
        return byAmounts(shape, placementRequest.workers(), from, hasPlaceAfter);
    }

    private OptionalInt byAmounts(Shape shape, int workers, int from, IntPredicate hasPlaceAfter) {
        for (int i = 0; i < from; i++) {
            applyRelease(releases.get(i), 1);
        }
        long fitting = 0;
        for (Room room : rooms.values()) {
            fitting += room.workers(shape);
        }
        int tries = 0;
        int ended = from;
        boolean mayFit = fitting >= workers;
        OptionalInt found = OptionalInt.empty();
        while (found.isEmpty()) {
            if (mayFit && tries++ == MAX_SINGLE_TRIES) {
                found = bisectReleases(ended - 1, hasPlaceAfter);
                break;
            }
            if (mayFit && hasPlaceAfter.test(ended)) {
                found = OptionalInt.of(ended);
            } else if (ended == releases.size()) {
                break;
            } else {
                long more = applyRelease(releases.get(ended++), shape);
                fitting += more;
                mayFit = more > 0 && fitting >= workers;
            }
        }
        while (ended > 0) {
            applyRelease(releases.get(--ended), -1);
        }
        return found;
    }

    /** Lets a workload end, and returns how many more workers may fit. */
    private long applyRelease(Release release, Shape shape) {
        long more = 0;
        for (Allocation.Worker worker : release.booking().allocation().workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode on && rooms.get(on.node()) instanceof Room room) {
                int before = room.workers(shape);
                room.release(on, release.booking().ofWorker(worker).shape(), 1);
                more += room.workers(shape) - before;
            }
        }
        return more;
    }

    /** @param sign 1 to let a workload end, -1 to undo it */
    private void applyRelease(Release release, int sign) {
        for (Allocation.Worker worker : release.booking().allocation().workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode on && rooms.get(on.node()) instanceof Room room) {
                room.release(on, release.booking().ofWorker(worker).shape(), sign);
            }
        }
    }

    /** @param without a number after which there is certainly no place */
    private OptionalInt bisectReleases(int without, IntPredicate hasPlaceAfter) {
        int most = releases.size();
        int low = without;
        int high = Math.min(most, low + 1);
        for (int step = 1; !hasPlaceAfter.test(high); step *= 2) {
            if (high == most) {
                return OptionalInt.empty();
            }
            low = high;
            high = Math.min(most, high + step);
        }
        while (high - low > 1) {
            int middle = (high + low) >>> 1;
            if (hasPlaceAfter.test(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return OptionalInt.of(high);
    }
}
