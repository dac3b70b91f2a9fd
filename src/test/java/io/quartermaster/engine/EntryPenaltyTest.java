package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** A start adds the entry penalty immediately; the return of interrupted work does not add it again. */
class EntryPenaltyTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final WorkloadId JOB = new WorkloadId("job");
    /** The past use that 2 GPUs accumulate in half a half-life. */
    private static final long PENALTY_NANO = 585_786_437;

    private final Engine engine = new Engine(Settings.DEFAULT.toBuilder()
            .fairnessWindowMillis(OptionalLong.of(60_000))
            .entryPenaltyMillis(30_000)
            .settings());

    private void given(WorkloadPhase state) {
        Workload waiting = Workload.waiting(JOB, ACME, Shape.ofWholeGpus(2), List.of(POOL), 0, 0);
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 2000)), new Change.WorkloadSet(waiting.withState(state))));
        assertThat(engine.plan(1_000).decisions()).hasSize(1);
    }

    private long averageNano() {
        return engine.pastUse().stream()
                .mapToLong(Change.PastUseSet::averageGpuNano)
                .sum();
    }

    @Test
    void aStartCountsAsIfItHadRunAlready() {
        given(WorkloadPhase.waiting());
        assertThat(averageNano()).isBetween(PENALTY_NANO - 1_000, PENALTY_NANO + 1_000);
        assertThat(engine.raisedPastUse()).containsExactly(ACME);
    }

    @Test
    void itIsForgottenLikeEverythingElseHoweverSoonTheWorkEnds() {
        given(WorkloadPhase.waiting());
        engine.apply(List.of(new Change.WorkloadRemoved(JOB)));
        engine.plan(1_000);
        engine.apply(List.of(new Change.PoolSet(Pool.ofCount(POOL, 3000))));
        engine.plan(61_000);
        assertThat(averageNano()).isBetween(PENALTY_NANO / 2 - 1_000, PENALTY_NANO / 2 + 1_000);
        assertThat(engine.raisedPastUse()).isEmpty();
    }

    @Test
    void whatWasStoppedAgainstItsWillDoesNotCountAgain() {
        given(WorkloadPhase.waitingAgain(500));
        assertThat(averageNano()).isZero();
    }

    @Test
    void workersThatComeAgainDoNotCountAgain() {
        assertThat(averageAfterGrowing(Set.of(1))).isBetween(PENALTY_NANO / 2 - 1_000, PENALTY_NANO / 2 + 1_000);
        assertThat(averageAfterGrowing(Set.of(1, 2))).isZero();
        assertThat(averageAfterGrowing(Set.of())).isBetween(PENALTY_NANO - 1_000, PENALTY_NANO + 1_000);
    }

    /**
     * The average after a workload of three workers has grown from one: two workers return, or start for the first
     * time.
     */
    private static long averageAfterGrowing(Set<Integer> hadBefore) {
        EntryPenaltyTest test = new EntryPenaltyTest();
        Allocation first = new Allocation(POOL, List.of(new Allocation.Worker(0, new Allocation.Place.Counted(1000))));
        WorkloadPhase state =
                new WorkloadPhase.Holding(first, 500, new WorkloadPhase.Phase.Running(), new TreeSet<>(hadBefore));
        Shape shape = Shape.ofWorkers(3, GpuRequest.whole(1)).minWorkers(1).shape();
        Workload workload = Workload.waiting(JOB, ACME, shape, List.of(POOL), 0, 0);
        test.engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 3000)), new Change.WorkloadSet(workload.withState(state))));
        assertThat(test.engine.plan(1_000).decisions()).hasSize(2);
        return test.averageNano();
    }

    @Test
    void itNeedsAFairnessWindow() {
        Settings.Builder without = Settings.DEFAULT.toBuilder().entryPenaltyMillis(1);
        assertThatThrownBy(without::settings).hasMessageContaining("fairness window");
    }
}
