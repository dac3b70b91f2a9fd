package io.quartermaster.engine.model;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The devices, or parts of them, that a workload holds in one pool, per worker, in the order of the workers' numbers.
 * An elastic workload may lack some of the numbers.
 */
public record Allocation(PoolId pool, List<Worker> workers) {

    public Allocation {
        workers = List.copyOf(workers);
        for (int i = 1; i < workers.size(); i++) {
            if (workers.get(i).number() <= workers.get(i - 1).number()) {
                throw new IllegalArgumentException("workers of an allocation must be in the order of their numbers");
            }
        }
    }

    /** The sum over all workers. */
    public long gpuMilli() {
        long sum = 0;
        for (Worker worker : workers) {
            sum += worker.place().gpuMilli();
        }
        return sum;
    }

    /** This allocation with further workers of the same workload. */
    public Allocation with(Allocation added) {
        List<Worker> all = new ArrayList<>(workers);
        all.addAll(added.workers);
        all.sort(Comparator.comparingInt(Worker::number));
        return new Allocation(pool, all);
    }

    /** This allocation without the workers of these numbers. */
    public Allocation without(SortedSet<Integer> numbers) {
        List<Worker> rest = new ArrayList<>(workers);
        rest.removeIf(worker -> numbers.contains(worker.number()));
        return new Allocation(pool, rest);
    }

    /** The workers of these numbers. */
    public Allocation only(SortedSet<Integer> numbers) {
        List<Worker> some = new ArrayList<>(workers);
        some.removeIf(worker -> !numbers.contains(worker.number()));
        return new Allocation(pool, some);
    }

    /** Whether both hold some device together; in a pool that is a plain count, if both are in it. */
    public boolean overlaps(Allocation other) {
        if (!pool.equals(other.pool)) {
            return false;
        }
        for (Worker worker : workers) {
            for (Worker beside : other.workers) {
                if (worker.place().overlaps(beside.place())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The numbers of the workers on a node. */
    public SortedSet<Integer> numbersOn(NodeId node) {
        SortedSet<Integer> numbers = new TreeSet<>();
        for (Worker worker : workers) {
            if (worker.place() instanceof Place.OnNode place && place.node().equals(node)) {
                numbers.add(worker.number());
            }
        }
        return numbers;
    }

    /** Whether any worker is on the node. */
    public boolean touches(NodeId node) {
        for (Worker worker : workers) {
            if (worker.place() instanceof Place.OnNode place && place.node().equals(node)) {
                return true;
            }
        }
        return false;
    }

    /** A worker and its place; numbers begin with 0. */
    public record Worker(int number, Place place) {}

    /** The place of a worker. */
    public sealed interface Place {

        long gpuMilli();

        /** Whether both use the same device, or, without devices, the same node. */
        default boolean overlaps(Place other) {
            if (!(this instanceof OnNode mine) || !(other instanceof OnNode theirs)) {
                return this instanceof Counted && other instanceof Counted;
            }
            return mine.node().equals(theirs.node())
                    && (mine.shares().isEmpty()
                            || theirs.shares().isEmpty()
                            || mine.shares().stream().anyMatch(share -> theirs.shares().stream()
                                    .anyMatch(beside -> beside.device() == share.device())));
        }

        /** A place on the devices of a node, in the order of their index; without devices for work without GPUs. */
        record OnNode(NodeId node, List<Share> shares) implements Place {
            public OnNode {
                shares = List.copyOf(shares);
            }

            @Override
            public long gpuMilli() {
                long sum = 0;
                for (Share share : shares) {
                    sum += share.gpuMilli();
                }
                return sum;
            }
        }

        /** A place in a pool that is a plain count. */
        record Counted(long gpuMilli) implements Place {}
    }

    /** A part of a device in thousandths, where 1000 is the whole device; with the MIG instance, if it is one. */
    public record Share(int device, int gpuMilli, Optional<MigInstance> instance) {
        public Share {
            if (gpuMilli < 1 || gpuMilli > 1000) {
                throw new IllegalArgumentException("a share must be 1 to 1000 thousandths of a GPU: " + gpuMilli);
            }
        }

        public static Share whole(int device) {
            return new Share(device, 1000, Optional.empty());
        }
    }

    /** A MIG instance, identified by its profile and the first memory slice that it occupies. */
    public record MigInstance(String profile, int firstSlice) {}
}
