package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The changes of an outlook are sufficient and minimal, over random cells. A failure names its seed. */
@Tag("known-cells")
class RemedyFinderPropertiesTest {
    private static final int MOST_PLANS = 10;
    private static final int EVENTS_BETWEEN = 4;
    private static final int MOST_WAITS = 2;
    private static final int MOST_GPUS = 12;

    @Test
    void whatIsNamedAdmitsTheWorkloadAndNothingOfItCanBeLeftOut() {
        AtomicInteger named = new AtomicInteger();
        AtomicInteger several = new AtomicInteger();
        RandomCells.forEachKnown(45, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 1; event <= RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                if (event % EVENTS_BETWEEN == 0) {
                    Engine settled = settled(cell.engine.fork(), cell.nowMillis);
                    for (WaitReasons waitReasons :
                            settled.waits().stream().limit(MOST_WAITS).toList()) {
                        for (Outlook.InPool pool : perPool(settled, waitReasons, cell.nowMillis)) {
                            if (!pool.relief().isEmpty()) {
                                named.incrementAndGet();
                                judged.check();
                            }
                            several.addAndGet(pool.relief().size() > 1 ? 1 : 0);
                            holds(settled, waitReasons.workload(), pool, cell.nowMillis);
                        }
                    }
                }
            }
        });
        RandomCells.requireHappened(20, named.get(), "remedies named");
        RandomCells.requireHappened(1, several.get(), "remedies of several changes");
    }

    private static Engine settled(Engine engine, long nowMillis) {
        for (int plans = 0;
                plans < MOST_PLANS && !engine.plan(nowMillis).decisions().isEmpty();
                plans++) {
            // The condition makes plans until one has no decisions.
        }
        return engine;
    }

    private static List<Outlook.InPool> perPool(Engine settled, WaitReasons waitReasons, long nowMillis) {
        AtomicInteger asked = new AtomicInteger();
        List<Outlook.InPool> pools = settled.outlook(waitReasons.workload(), nowMillis, () -> {
                    asked.incrementAndGet();
                    return false;
                })
                .map(Outlook::perPool)
                .orElse(List.of());
        // The finder evaluates the condition before each try, and once more for each pool in which no try follows.
        assertThat(asked.get()).isLessThanOrEqualTo(RemedyFinder.MAX_TRIES + pools.size());
        return pools;
    }

    private static void holds(Engine settled, WorkloadId id, Outlook.InPool pool, long nowMillis) {
        List<Outlook.Relief> relief = pool.relief();
        if (!relief.isEmpty()) {
            // The changes suffice on one node; on another node, other changes may suffice.
            assertThat(nodes(settled, relief, pool.pool()))
                    .as("%s in %s with %s", id, pool.pool(), relief)
                    .anySatisfy(node -> holdsOn(node, settled, id, pool, nowMillis));
        }
    }

    /** The nodes on which GPUs may come free together; a single empty value if none have to. */
    private static List<Optional<NodeId>> nodes(Engine settled, List<Outlook.Relief> relief, PoolId pool) {
        if (relief.stream().noneMatch(each -> each.kind() == Outlook.Relief.Kind.FREE_ON_ONE_NODE)) {
            return List.of(Optional.empty());
        }
        return settled.declaredState().nodes().values().stream()
                .filter(node -> node.pool().equals(pool))
                .map(node -> Optional.of(node.id()))
                .toList();
    }

    private static void holdsOn(
            Optional<NodeId> node, Engine settled, WorkloadId id, Outlook.InPool pool, long nowMillis) {
        List<Outlook.Relief> relief = pool.relief();
        if (relief.stream().anyMatch(each -> each.gpuMilli() == 0 && each.workloads() == 0)) {
            holdsWithSomeAmount(node, settled, id, pool, nowMillis);
            return;
        }
        assertThat(admits(settled, relief, node, id, pool.pool(), nowMillis))
                .as("all, on %s", node)
                .isTrue();
        for (int i = 0; i < relief.size(); i++) {
            List<Outlook.Relief> without = new ArrayList<>(relief);
            Outlook.Relief left = without.remove(i);
            // The finder raises a parent's reservation to contain that of its child. The engine does not check this.
            boolean above = left.kind() == Outlook.Relief.Kind.RESERVE_MORE
                    && without.stream()
                            .anyMatch(other -> other.kind() == left.kind()
                                    && other.scope().equals(left.scope())
                                    && left.path()
                                            .orElseThrow()
                                            .covers(other.path().orElseThrow()));
            if (!above) {
                assertThat(admits(settled, without, node, id, pool.pool(), nowMillis))
                        .as("without %s, on %s", left, node)
                        .isFalse();
                if (left.gpuMilli() > 1000 || left.workloads() > 1) {
                    without.add(i, left.with(Math.max(0, left.gpuMilli() - 1000), Math.max(0, left.workloads() - 1)));
                    assertThat(admits(settled, without, node, id, pool.pool(), nowMillis))
                            .as("with less than %s, on %s", left, node)
                            .isFalse();
                }
            }
        }
    }

    /** Checks that a change without an amount suffices with some amount. */
    private static void holdsWithSomeAmount(
            Optional<NodeId> node, Engine settled, WorkloadId id, Outlook.InPool pool, long nowMillis) {
        boolean enough = false;
        for (int gpus = 1; gpus <= MOST_GPUS && !enough; gpus++) {
            long gpuMilli = gpus * 1000L;
            List<Outlook.Relief> relief = pool.relief().stream()
                    .map(each -> each.gpuMilli() == 0 && each.workloads() == 0 ? each.with(gpuMilli, 0) : each)
                    .toList();
            enough = admits(settled, relief, node, id, pool.pool(), nowMillis);
        }
        assertThat(enough).as("some amount, on %s", node).isTrue();
    }

    private static boolean admits(
            Engine settled,
            List<Outlook.Relief> relief,
            Optional<NodeId> node,
            WorkloadId id,
            PoolId pool,
            long nowMillis) {
        Engine fork = settled.fork();
        relief.forEach(each -> fork.apply(List.of(change(fork, each, node))));
        for (int plans = 0; plans < MOST_PLANS; plans++) {
            List<Decision> decisions = fork.plan(nowMillis).decisions();
            for (Decision decision : decisions) {
                boolean starts = decision instanceof Decision.Start start
                        && start.workload().equals(id)
                        && start.allocation().pool().equals(pool);
                boolean nominated = decision instanceof Decision.Nominate nominate
                        && nominate.workload().equals(id)
                        && nominate.place().pool().equals(pool);
                if (starts || nominated) {
                    return true;
                }
            }
            if (decisions.isEmpty()) {
                return false;
            }
        }
        return false;
    }

    private static Change change(Engine fork, Outlook.Relief relief, Optional<NodeId> node) {
        return switch (relief.kind()) {
            case RAISE_LIMIT -> {
                Quota quota = quota(fork, relief);
                yield new Change.QuotaSet(quota.withHigherLimit(relief.gpuMilli()));
            }
            case RESERVE_MORE -> new Change.QuotaSet(quota(fork, relief).withMoreReserved(relief.gpuMilli()));
            case RAISE_USER_LIMIT -> {
                ConcurrencyCaps concurrencyCaps = caps(fork, relief);
                yield new Change.CapsSet(new ConcurrencyCaps(
                        concurrencyCaps.path(),
                        OptionalLong.of(concurrencyCaps.perUserGpuMilli().orElseThrow() + relief.gpuMilli()),
                        concurrencyCaps.running()));
            }
            case RAISE_MAX_RUNNING -> {
                ConcurrencyCaps concurrencyCaps = caps(fork, relief);
                yield new Change.CapsSet(new ConcurrencyCaps(
                        concurrencyCaps.path(),
                        concurrencyCaps.perUserGpuMilli(),
                        OptionalInt.of(concurrencyCaps.running().orElseThrow() + (int) relief.workloads())));
            }
            case FREE_IN_POOL -> {
                Scope.OnePool scope = (Scope.OnePool) relief.scope().orElseThrow();
                Pool pool = Objects.requireNonNull(fork.declaredState().pools().get(scope.pool()));
                long count = ((Pool.Capacity.Count) pool.capacity()).gpuMilli();
                Pool raised = pool.withHigherCount(relief.gpuMilli());
                assertThat(raised.capacity()).isEqualTo(new Pool.Capacity.Count(count + relief.gpuMilli()));
                yield new Change.PoolSet(raised);
            }
            case FREE_ON_ONE_NODE ->
                new Change.NodeSet(
                        Objects.requireNonNull(fork.declaredState().nodes().get(node.orElseThrow()))
                                .withMoreDevices((int) (relief.gpuMilli() / 1000)));
        };
    }

    private static Quota quota(Engine fork, Outlook.Relief relief) {
        return fork.declaredState()
                .quota(relief.path().orElseThrow(), relief.scope().orElseThrow())
                .orElseThrow();
    }

    private static ConcurrencyCaps caps(Engine fork, Outlook.Relief relief) {
        return Objects.requireNonNull(
                fork.declaredState().caps().get(relief.path().orElseThrow()));
    }
}
