package io.quartermaster.engine;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;

/** Large cells for benchmarks, from a fixed seed. */
public final class BenchCell {
    static final PoolId POOL = new PoolId("pool");

    private BenchCell() {}

    /** A pool of nodes with eight GPUs each. */
    public static List<Change> nodes(int count) {
        List<Change> changes = new ArrayList<>();
        changes.add(new Change.PoolSet(Pool.ofNodes(POOL)));
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < 8; index++) {
            devices.add(new Node.Device(index, "H100", 81_920, false));
        }
        for (int n = 0; n < count; n++) {
            changes.add(new Change.NodeSet(new Node(
                    new NodeId(String.format("n%05d", n)),
                    POOL,
                    true,
                    true,
                    devices,
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    Collections.emptySortedMap(),
                    List.of())));
        }
        return changes;
    }

    /** Quotas of ten tenants with ten groups each; they reserve all GPUs in equal parts and permit borrowing. */
    public static List<Change> quotas(int gpus) {
        return quotas(gpus, 10, 10);
    }

    static List<Change> quotas(int gpus, int tenants, int groupsEach) {
        List<Change> changes = new ArrayList<>();
        for (int t = 0; t < tenants; t++) {
            long ofTenant = gpus * 1000L / tenants;
            changes.add(new Change.QuotaSet(Quota.reserving(QuotaPath.of("t" + t), Scope.of(POOL), ofTenant)));
            for (int g = 0; g < groupsEach; g++) {
                changes.add(new Change.QuotaSet(
                        Quota.reserving(QuotaPath.of("t" + t, "g" + g), Scope.of(POOL), ofTenant / groupsEach)));
            }
        }
        return changes;
    }

    /** Waiting single jobs of the hundred groups; each of one GPU, or a mix of 1, 2, 4, 8 and halves. */
    public static List<Change> jobs(int count, boolean mix, long seed) {
        Random random = new Random(seed);
        List<Change> changes = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Shape shape = mix ? mixed(random) : Shape.ofWholeGpus(1);
            QuotaPath path = QuotaPath.of("t" + random.nextInt(10), "g" + random.nextInt(10));
            changes.add(new Change.WorkloadSet(job(i, path, shape)));
        }
        return changes;
    }

    /** Waiting single jobs of one GPU, over this number of tenants and groups. */
    static List<Change> jobs(int count, int tenants, int groupsEach, long seed) {
        Random random = new Random(seed);
        List<Change> changes = new ArrayList<>(count);
        Shape shape = Shape.ofWholeGpus(1);
        for (int i = 0; i < count; i++) {
            QuotaPath path = QuotaPath.of("t" + random.nextInt(tenants), "g" + random.nextInt(groupsEach));
            changes.add(new Change.WorkloadSet(job(i, path, shape)));
        }
        return changes;
    }

    static Workload mixed(int number, QuotaPath path, Random random) {
        return job(number, path, mixed(random));
    }

    private static Shape mixed(Random random) {
        int size = random.nextInt(100);
        return size < 60
                ? Shape.ofWholeGpus(1)
                : size < 70 ? half() : size < 85 ? Shape.ofWholeGpus(2) : Shape.ofWholeGpus(size < 95 ? 4 : 8);
    }

    static Workload job(int number, QuotaPath path, Shape shape) {
        return Workload.waiting(
                new WorkloadId(String.format("w%07d", number)), path, shape, List.of(POOL), number, number);
    }

    private static Shape half() {
        return Shape.ofWorkers(1, new GpuRequest.Fraction(1, 500)).shape();
    }

    /**
     * A full cell: jobs of a group without a reservation hold one GPU each, and a gang for a tenth of the nodes waits.
     */
    static List<Change> reclaim(int nodes) {
        List<Change> changes = nodes(nodes);
        QuotaPath rich = QuotaPath.of("rich");
        QuotaPath poor = QuotaPath.of("poor");
        changes.add(new Change.QuotaSet(Quota.reserving(rich, Scope.of(POOL), nodes * 8000L)));
        changes.add(new Change.QuotaSet(Quota.reserving(poor, Scope.of(POOL), 0)));
        int number = 0;
        for (int n = 0; n < nodes; n++) {
            for (int device = 0; device < 8; device++) {
                Allocation.Place place = new Allocation.Place.OnNode(
                        new NodeId(String.format("n%05d", n)), List.of(Allocation.Share.whole(device)));
                Allocation allocation = new Allocation(POOL, List.of(new Allocation.Worker(0, place)));
                changes.add(new Change.WorkloadSet(job(number, poor, Shape.ofWholeGpus(1))
                        .withState(WorkloadPhase.running(allocation, number++))));
            }
        }
        changes.add(new Change.WorkloadSet(job(number, rich, Shape.gang(nodes / 10, 8))));
        return changes;
    }
}
