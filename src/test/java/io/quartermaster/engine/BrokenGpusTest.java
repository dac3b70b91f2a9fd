package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Work on GPUs that its node no longer offers, and in pools that no longer exist. */
class BrokenGpusTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final PoolId OTHER = new PoolId("other");
    private static final QuotaPath ACME = QuotaPath.of("acme");

    private final Engine engine = new Engine(Settings.DEFAULT);
    private long sequence;

    private static Change node(String id, int... devices) {
        return new Change.NodeSet(new Node(
                new NodeId(id),
                POOL,
                true,
                true,
                IntStream.of(devices)
                        .mapToObj(index -> new Node.Device(index, "", 0, false))
                        .toList(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                new TreeMap<>(),
                List.of()));
    }

    private void submit(String id, PoolId pool) {
        engine.apply(List.of(new Change.WorkloadSet(Workload.waiting(
                new WorkloadId(id), ACME, Shape.ofWholeGpus(1), List.of(pool), sequence, sequence++))));
    }

    private List<String> decided() {
        return engine.plan(0).decisions().stream()
                .map(decision -> decision.getClass().getSimpleName() + " " + decision.workload())
                .toList();
    }

    @Test
    void theyTakeNothingFromTheHealthyGpusOfTheirPool() {
        engine.apply(List.of(new Change.PoolSet(Pool.ofNodes(POOL)), node("n", 0, 1)));
        submit("a", POOL);
        assertThat(decided()).containsExactly("Start a");

        engine.apply(List.of(node("n", 1)));
        submit("b", POOL);
        assertThat(decided()).containsExactly("Start b");

        submit("c", POOL);
        assertThat(decided()).isEmpty();
    }

    @Test
    void theyTakeNothingFromOtherPoolsInTheTreeOverAllPools() {
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofNodes(POOL)),
                new Change.PoolSet(Pool.ofCount(OTHER, 1_000)),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.ALL_POOLS, 1_000)),
                node("n", 0)));
        submit("a", POOL);
        assertThat(decided()).containsExactly("Start a");

        engine.apply(List.of(node("n")));
        submit("b", OTHER);
        assertThat(decided()).containsExactly("Start b");
    }

    @Test
    void workInAPoolThatIsNotKnownAnyMoreTakesNothingFromOthers() {
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 1_000)),
                new Change.PoolSet(Pool.ofCount(OTHER, 1_000)),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.ALL_POOLS, 1_000))));
        submit("a", POOL);
        assertThat(decided()).containsExactly("Start a");

        engine.apply(List.of(new Change.PoolRemoved(POOL)));
        submit("b", OTHER);
        assertThat(decided()).containsExactly("Start b");
    }
}
