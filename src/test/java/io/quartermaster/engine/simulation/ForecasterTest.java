package io.quartermaster.engine.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Forecasts of a cell without new input. */
class ForecasterTest {
    private static final PoolId POOL = new PoolId("pool");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final QuotaPath UMBRA = QuotaPath.of("umbra");
    private static final long NOW = 1_000_000;

    private final List<Change> facts = new ArrayList<>(List.of(
            new Change.PoolSet(Pool.ofCount(POOL, 4_000)),
            new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 2_000)),
            new Change.QuotaSet(Quota.reserving(UMBRA, Scope.of(POOL), 2_000))));
    private final List<Workload> workloads = new ArrayList<>();
    private Optional<Forecaster.EvictionBehaviour> yielding = Optional.empty();
    private Map<PoolId, Long> maxGraceMillis = Map.of();

    private WorkloadId waiting(String name, QuotaPath path, int gpus, OptionalLong maxRuntimeMillis) {
        Workload plain = Workload.waiting(
                new WorkloadId(name), path, Shape.ofWholeGpus(gpus), List.of(POOL), NOW, workloads.size());
        workloads.add(new Workload(
                plain.id(),
                path,
                plain.user(),
                plain.profile(),
                plain.queue(),
                plain.shape(),
                plain.pools(),
                plain.priority(),
                true,
                false,
                false,
                plain.submittedMillis(),
                plain.sequence(),
                maxRuntimeMillis,
                false,
                plain.state(),
                plain.nomination()));
        return plain.id();
    }

    private WorkloadId running(
            String name, QuotaPath path, int gpus, long startedMillis, OptionalLong maxRuntimeMillis) {
        WorkloadId id = waiting(name, path, gpus, maxRuntimeMillis);
        Allocation allocation =
                new Allocation(POOL, List.of(new Allocation.Worker(0, new Allocation.Place.Counted(gpus * 1_000L))));
        workloads.set(
                workloads.size() - 1, workloads.getLast().withState(WorkloadPhase.running(allocation, startedMillis)));
        return id;
    }

    private Forecast play(long untilMillis, int plans) {
        Engine engine = new Engine(Settings.DEFAULT);
        engine.apply(facts);
        workloads.forEach(workload -> engine.apply(List.of(new Change.WorkloadSet(workload))));
        return Forecaster.forecast(
                engine,
                workloads,
                new Forecaster.EvictionBehaviours(id -> yielding, maxGraceMillis),
                NOW,
                new Forecaster.Bounds(untilMillis, plans, () -> false));
    }

    private Forecast play() {
        return play(NOW + 3_600_000, 1_000);
    }

    private static Optional<Long> start(Forecast forecast, WorkloadId id) {
        return Optional.ofNullable(forecast.perWorkload().get(id))
                .flatMap(Forecast.WorkloadForecast::start)
                .map(Forecast.Start::atMillis);
    }

    private static Optional<Forecast.Stop> stop(Forecast forecast, WorkloadId id) {
        return Optional.ofNullable(forecast.perWorkload().get(id)).flatMap(Forecast.WorkloadForecast::stop);
    }

    private static Optional<Reason.Code> code(Forecast forecast, WorkloadId id) {
        return Optional.ofNullable(forecast.waits().get(id))
                .map(waitReasons -> waitReasons.reason().code());
    }

    @Test
    void whatWaitsStartsWhenWhatRunsMustHaveEnded() {
        running("a", ACME, 2, NOW - 10_000, OptionalLong.of(60_000));
        running("b", UMBRA, 2, NOW, OptionalLong.empty());
        WorkloadId next = waiting("c", ACME, 2, OptionalLong.of(30_000));
        WorkloadId last = waiting("d", ACME, 2, OptionalLong.empty());
        Forecast forecast = play();
        assertThat(start(forecast, next)).contains(NOW + 50_000);
        assertThat(start(forecast, last)).contains(NOW + 80_000);
        assertThat(code(forecast, last)).contains(Reason.Code.NO_CAPACITY);
        assertThat(forecast.complete()).isTrue();
        assertThat(forecast.reachedMillis()).isEqualTo(NOW + 3_600_000);
    }

    @Test
    void whatSaysNoMaximumRunTimeGoesOn() {
        running("a", ACME, 4, NOW - 10_000, OptionalLong.empty());
        WorkloadId next = waiting("b", ACME, 1, OptionalLong.empty());
        Forecast forecast = play();
        assertThat(start(forecast, next)).isEmpty();
        assertThat(forecast.atLast().of(POOL, "acme")).isEqualTo(4_000);
    }

    @Test
    void whoeverGivesWayKeepsWhatItHoldsForItsGrace() {
        WorkloadId borrower = running("a", ACME, 2, NOW - 10_000, OptionalLong.empty());
        WorkloadId later = running("b", ACME, 2, NOW - 5_000, OptionalLong.empty());
        WorkloadId owner = waiting("c", UMBRA, 2, OptionalLong.empty());
        yielding = Optional.of(new Forecaster.EvictionBehaviour(20_000, true));
        Forecast forecast = play();
        assertThat(stop(forecast, later)).contains(new Forecast.Stop(NOW, EvictionCause.RECLAIM));
        assertThat(forecast.perWorkload()).doesNotContainKey(borrower);
        assertThat(start(forecast, owner)).contains(NOW + 20_000);
        assertThat(code(forecast, owner)).contains(Reason.Code.NOMINATED);
        assertThat(forecast.atFirst().of(POOL, "acme")).isEqualTo(4_000);
        assertThat(forecast.atLast().of(POOL, "acme")).isEqualTo(2_000);
    }

    @Test
    void noGraceIsLongerThanThePoolAllows() {
        running("a", ACME, 2, NOW - 10_000, OptionalLong.empty());
        running("b", ACME, 2, NOW - 5_000, OptionalLong.empty());
        WorkloadId owner = waiting("c", UMBRA, 2, OptionalLong.empty());
        yielding = Optional.of(new Forecaster.EvictionBehaviour(20_000, true));
        maxGraceMillis = Map.of(POOL, 5_000L);
        assertThat(start(play(), owner)).contains(NOW + 5_000);
        maxGraceMillis = Map.of(POOL, 60_000L);
        assertThat(start(play(), owner)).contains(NOW + 20_000);
        maxGraceMillis = Map.of(new PoolId("other"), 5_000L);
        assertThat(start(play(), owner)).contains(NOW + 20_000);
    }

    @Test
    void theGraceOfWhatStartsLaterIsBoundedToo() {
        facts.add(new Change.QuotaSet(
                Quota.reserving(UMBRA, Scope.of(POOL), 2_000).withLimit(2_000)));
        running("a", UMBRA, 1, NOW - 10_000, OptionalLong.of(60_000));
        WorkloadId borrower = waiting("b", ACME, 3, OptionalLong.empty());
        WorkloadId owner = waiting("c", UMBRA, 2, OptionalLong.empty());
        yielding = Optional.of(new Forecaster.EvictionBehaviour(20_000, true));
        maxGraceMillis = Map.of(POOL, 5_000L);
        Forecast forecast = play();
        assertThat(stop(forecast, borrower)).contains(new Forecast.Stop(NOW + 50_000, EvictionCause.RECLAIM));
        assertThat(start(forecast, owner)).contains(NOW + 55_000);
    }

    @Test
    void whoeverIsEndedInsteadOfQueuedAgainNeverStartsAgain() {
        running("a", ACME, 2, NOW - 10_000, OptionalLong.empty());
        WorkloadId ended = running("b", ACME, 2, NOW - 5_000, OptionalLong.empty());
        waiting("c", UMBRA, 2, OptionalLong.of(60_000));
        yielding = Optional.of(new Forecaster.EvictionBehaviour(0, false));
        assertThat(start(play(), ended)).isEmpty();
        yielding = Optional.of(new Forecaster.EvictionBehaviour(0, true));
        assertThat(start(play(), ended)).contains(NOW + 60_000);
    }

    @Test
    void anAnswerSaysUpToWhenItReaches() {
        running("a", ACME, 4, NOW - 10_000, OptionalLong.of(60_000));
        for (int i = 0; i < 10; i++) {
            waiting("w" + i, ACME, 4, OptionalLong.of(60_000));
        }
        Forecast forecast = play(NOW + 3_600_000, 5);
        assertThat(forecast.complete()).isFalse();
        assertThat(forecast.reachedMillis()).isLessThan(NOW + 3_600_000).isGreaterThan(NOW);
    }
}
