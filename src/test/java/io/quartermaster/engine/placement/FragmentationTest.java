package io.quartermaster.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadMix;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A pool with a mix of work leaves GPUs that this work can use. */
class FragmentationTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath PATH = QuotaPath.of("acme");

    @Test
    void workThatNeedsManyProcessorsGoesWhereTheyAreNotNeededBesideGpus() {
        WorkloadMix workloadMix = new WorkloadMix(List.of(kind(12, 9), kind(40, 1)));
        List<Node> nodes = List.of(node("lean", "A", 8, 96), node("rich", "A", 8, 400));

        assertThat(placed(workloadMix, nodes, 40, node -> true)).isEqualTo("rich");
        assertThat(placed(workloadMix, nodes, 12, node -> true)).isEqualTo("lean");
    }

    @Test
    void workThatCanUseAnyModelSparesTheOneThatOthersCannotDoWithout() {
        WorkloadMix workloadMix = new WorkloadMix(List.of(kind(4, 96), kind(4, 4, "A")));
        // The last GPU of a node would be the tightest place. Few pieces need such a GPU, but it is the only one for
        // them.
        List<Node> nodes =
                List.of(node("a", "A", 1, 12), node("b", "B", 8, 96), node("c", "B", 8, 96), node("d", "B", 8, 96));

        assertThat(placed(workloadMix, nodes, 4, node -> true)).isEqualTo("b");
        assertThat(placed(workloadMix, nodes, 4, node -> node.devices()
                        .getFirst()
                        .model()
                        .equals("A")))
                .isEqualTo("a");
    }

    @Test
    void withoutSuchWorkTheTightestPlaceIsTaken() {
        WorkloadMix workloadMix = new WorkloadMix(List.of(kind(4, 1)));
        List<Node> nodes = List.of(node("b", "B", 8, 96), node("a", "A", 1, 12));

        assertThat(placed(workloadMix, nodes, 4, node -> true)).isEqualTo("a");
    }

    private static String placed(WorkloadMix workloadMix, List<Node> nodes, int cores, Predicate<Node> within) {
        PoolCapacity poolCapacity = Cluster.of(
                        List.of(Pool.ofNodes(POOL).withMix(workloadMix)),
                        nodes,
                        new TreeMap<>(),
                        new TreeMap<>(),
                        new TreeSet<>(List.of(PATH)),
                        new MoveSearches())
                .poolCapacity(POOL)
                .orElseThrow();
        Shape shape =
                Shape.ofWorkers(1, GpuRequest.whole(1)).cpuMilli(cores * 1_000L).shape();
        Allocation found = poolCapacity
                .place(new PlacementRequest(shape, List.of(0), PATH, within), Availability.NOW)
                .orElseThrow();
        return ((Allocation.Place.OnNode) found.workers().getFirst().place())
                .node()
                .value();
    }

    private static WorkloadMix.Kind kind(int cores, long weight, String... models) {
        SortedSet<String> usable = new TreeSet<>(List.of(models));
        return new WorkloadMix.Kind(GpuRequest.whole(1), cores * 1_000L, usable, weight);
    }

    private static Node node(String name, String model, int gpus, int cores) {
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < gpus; index++) {
            devices.add(new Node.Device(index, model, 0, false));
        }
        return new Node(
                new NodeId(name),
                POOL,
                true,
                true,
                devices,
                OptionalLong.of(cores * 1_000L),
                OptionalLong.empty(),
                Collections.emptySortedMap(),
                List.of());
    }
}
