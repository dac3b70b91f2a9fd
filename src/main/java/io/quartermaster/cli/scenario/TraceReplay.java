package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadMix;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.placement.MoveSearches;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Replay of a trace by inflation, as in Weng et al., "Beware of Fragmentation", USENIX ATC 2023, section 6. The replay
 * shuffles the list of work, and draws from it again until the requests are a given percentage of all GPUs. The
 * engine's own placement places each workload as it arrives. No workload ends, and the replay drops a workload that
 * does not fit.
 */
public final class TraceReplay {
    private static final PoolId POOL = new PoolId("trace");
    private static final QuotaPath PATH = QuotaPath.of("trace");
    /**
     * The part of the list, in percent, that the kinds of work in the mix cover; the mix has the most frequent kinds.
     */
    private static final int MIX_PERCENT = 95;

    private static final long PARTS_OF_CAPACITY = 100_000;

    /**
     * One workload of the trace.
     *
     * @param models the GPU models that it can use; empty = all
     */
    public record TraceWorkload(
            GpuRequest gpus, long gpuMilli, long cpuMilli, long memoryMiB, SortedSet<String> models) {
        private Shape shape() {
            return Shape.ofWorkers(1, gpus)
                    .cpuMilli(cpuMilli)
                    .memoryMiB(memoryMiB)
                    .shape();
        }
    }

    /** Rule for the choice of nodes. */
    public enum Policy {
        /** The node on which the smallest remainder is unusable for the trace's mix of work. */
        FRAGMENTATION,
        /** The fullest node that fits. */
        PACK,
        /** The emptiest node that fits. */
        SPREAD
    }

    /**
     * Result of one run.
     *
     * @param allocated the allocated part of all GPUs, in parts of 100,000, after each further tenth of all GPUs has
     *     been requested; the first value is after one tenth
     * @param stranded the free GPUs that the most frequent kinds of work cannot use on average; the unit and the
     *     moments are those of {@code allocated}
     */
    public record Run(List<Long> allocated, List<Long> stranded) {}

    private final List<Node> nodes;
    private final List<TraceWorkload> workloads;
    private final WorkloadMix workloadMix;
    private final long capacityGpuMilli;

    public TraceReplay(List<Node> nodes, List<TraceWorkload> workloads) {
        this.nodes = List.copyOf(nodes);
        this.workloads = List.copyOf(workloads);
        this.workloadMix = mixOf(workloads);
        long capacity = 0;
        for (Node node : nodes) {
            capacity += node.devices().size() * 1000L;
        }
        this.capacityGpuMilli = capacity;
    }

    private static WorkloadMix mixOf(List<TraceWorkload> workloads) {
        Map<WorkloadMix.Kind, Long> counts = new LinkedHashMap<>();
        for (TraceWorkload workload : workloads) {
            counts.merge(
                    new WorkloadMix.Kind(workload.gpus(), workload.cpuMilli(), workload.models(), 1), 1L, Long::sum);
        }
        List<Map.Entry<WorkloadMix.Kind, Long>> byCount = new ArrayList<>(counts.entrySet());
        byCount.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        List<WorkloadMix.Kind> kinds = new ArrayList<>();
        long covered = 0;
        for (Map.Entry<WorkloadMix.Kind, Long> entry : byCount) {
            if (covered * 100 < (long) workloads.size() * MIX_PERCENT) {
                WorkloadMix.Kind kind = entry.getKey();
                kinds.add(new WorkloadMix.Kind(kind.gpus(), kind.cpuMilli(), kind.models(), entry.getValue()));
                covered += entry.getValue();
            }
        }
        return new WorkloadMix(kinds);
    }

    /**
     * Performs one run.
     *
     * @param percent the total of the requests, in percent of all GPUs
     * @param wholeQueue whether all work is known from the beginning, so that the largest workload goes first
     */
    public Run run(Policy policy, long seed, int percent, boolean wholeQueue) {
        List<TraceWorkload> arrivals = selectArrivals(new Random(seed), percent);
        if (wholeQueue) {
            arrivals.sort(Comparator.comparingLong((TraceWorkload workload) -> -workload.gpuMilli())
                    .thenComparingLong(workload -> -workload.cpuMilli()));
        }
        PoolCapacity poolCapacity = newPool(policy);
        List<Long> allocated = new ArrayList<>();
        List<Long> stranded = new ArrayList<>();
        long requested = 0;
        long held = 0;
        for (TraceWorkload workload : arrivals) {
            requested += workload.gpuMilli();
            held += place(poolCapacity, workload) ? workload.gpuMilli() : 0;
            while (requested * 10 >= capacityGpuMilli * (allocated.size() + 1)) {
                allocated.add(held * PARTS_OF_CAPACITY / capacityGpuMilli);
                stranded.add(poolCapacity.unusableGpuMilli(workloadMix) * PARTS_OF_CAPACITY / capacityGpuMilli);
            }
        }
        allocated.add(held * PARTS_OF_CAPACITY / capacityGpuMilli);
        stranded.add(poolCapacity.unusableGpuMilli(workloadMix) * PARTS_OF_CAPACITY / capacityGpuMilli);
        return new Run(allocated, stranded);
    }

    private List<TraceWorkload> selectArrivals(Random random, int percent) {
        long max = capacityGpuMilli * percent / 100;
        List<TraceWorkload> arrivals = new ArrayList<>(workloads);
        Collections.shuffle(arrivals, random);
        long requested = 0;
        for (TraceWorkload workload : arrivals) {
            requested += workload.gpuMilli();
        }
        while (requested > max) {
            requested -= arrivals.remove(random.nextInt(arrivals.size())).gpuMilli();
        }
        TraceWorkload next = workloads.get(random.nextInt(workloads.size()));
        while (requested + next.gpuMilli() <= max) {
            requested += next.gpuMilli();
            arrivals.add(next);
            next = workloads.get(random.nextInt(workloads.size()));
        }
        return arrivals;
    }

    private PoolCapacity newPool(Policy policy) {
        Pool pool = new Pool(
                POOL,
                Pool.ofNodes(POOL).capacity(),
                policy == Policy.SPREAD ? Pool.Placement.SPREAD : Pool.Placement.PACK,
                Pool.Sharing.ANY,
                List.of(),
                List.of(),
                true);
        Pool configured = policy == Policy.FRAGMENTATION ? pool.withMix(workloadMix) : pool;
        return Cluster.of(
                        List.of(configured),
                        nodes,
                        new TreeMap<>(),
                        new TreeMap<>(),
                        new TreeSet<>(List.of(PATH)),
                        new MoveSearches())
                .poolCapacity(POOL)
                .orElseThrow();
    }

    private static boolean place(PoolCapacity poolCapacity, TraceWorkload workload) {
        PlacementRequest placementRequest =
                new PlacementRequest(workload.shape(), List.of(0), PATH, node -> acceptsModel(node, workload));
        Optional<Allocation> place = poolCapacity.place(placementRequest, Availability.NOW);
        place.ifPresent(found -> {
            Booking booking = new Booking(PATH, Optional.empty(), workload.shape(), true, found, true);
            for (UsageView view : UsageView.values()) {
                poolCapacity.add(booking, view);
            }
        });
        return place.isPresent();
    }

    private static boolean acceptsModel(Node node, TraceWorkload workload) {
        return workload.models().isEmpty()
                || workload.gpuMilli() == 0
                || (!node.devices().isEmpty()
                        && workload.models().contains(node.devices().getFirst().model()));
    }
}
