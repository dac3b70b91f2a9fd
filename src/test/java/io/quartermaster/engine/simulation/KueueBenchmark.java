package io.quartermaster.engine.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Benchmark with the two public set-ups of Kueue's scheduler performance test (test/performance/scheduler/configs,
 * baseline and large-scale), in virtual time. A cohort is a tenant to which no other tenant lends. A cluster queue is a
 * group with a reserved quota: it borrows up to the rest of its cohort, it reclaims what it lends, and work of lower
 * priority is evicted first. The benchmark compares the makespan with the lower bound that the work itself sets, and
 * measures the cost of the plans. {@code ./mvnw test -Dtest=KueueBenchmark -Dqm.bench=true} writes
 * {@code benchmarks/kueue.md}.
 */
@EnabledIfSystemProperty(named = "qm.bench", matches = "true")
class KueueBenchmark {

    /** The work of one class in each queue. */
    private record Work(String name, int count, int everyMillis, int gpus, int runsMillis, int priority) {}

    private record SetUp(String name, int cohorts, int queues, int reserved, List<Work> work) {
        /**
         * The lower bound of the makespan: all work of a queue, divided by the reservation of the queue.
         */
        double boundSeconds() {
            return workFrom(0) / 1000.0 / reserved;
        }

        /**
         * The lower bound of the makespan that also considers the submission times: the maximum, over all moments, of
         * the moment plus the work submitted from then on, divided by the reservation.
         */
        double boundByArrivalSeconds() {
            double bound = 0;
            for (Work each : work) {
                for (int i = 1; i <= each.count(); i++) {
                    long from = (long) i * each.everyMillis();
                    bound = Math.max(bound, (from + (double) workFrom(from) / reserved) / 1000);
                }
            }
            return bound;
        }

        /** The work that is submitted to a queue from a moment on, in GPU-milliseconds. */
        private long workFrom(long millis) {
            long gpuMillis = 0;
            for (Work each : work) {
                for (int i = 1; i <= each.count(); i++) {
                    gpuMillis += (long) i * each.everyMillis() >= millis ? (long) each.gpus() * each.runsMillis() : 0;
                }
            }
            return gpuMillis;
        }
    }

    private static final SetUp BASELINE = new SetUp(
            "baseline",
            5,
            6,
            20,
            List.of(
                    new Work("small", 350, 100, 1, 200, 50),
                    new Work("medium", 100, 500, 5, 500, 100),
                    new Work("large", 50, 1_200, 20, 1_000, 200)));
    private static final SetUp LARGE_SCALE = new SetUp(
            "large-scale",
            10,
            100,
            20,
            List.of(
                    new Work("small", 35, 60, 1, 150, 50),
                    new Work("medium", 11, 300, 5, 350, 100),
                    new Work("large", 4, 700, 20, 700, 200)));
    private static final int MOST_BORROWED = 100;

    @Test
    void measure() throws IOException {
        List<String> lines = new ArrayList<>();
        lines.addAll(List.of(
                "# Kueue's set-ups",
                "",
                "The two set-ups of Kueue's scheduler performance test (test/performance/scheduler/configs), "
                        + "replayed in virtual time.",
                "Work runs exactly as long as stated, a start costs nothing, and preempted work runs again from its "
                        + "beginning.",
                "",
                "Kueue's own figures (351 s for the first) are those of a whole system with an API server. So this "
                        + "page compares the order",
                "of decisions with a lower bound: all work of a queue, divided by its reservation. The bound in "
                        + "brackets also respects the",
                "times of submission.",
                "",
                "Each set-up runs twice. With the defaults, work of higher priority preempts immediately, and the "
                        + "progress of its victims",
                "is lost. With `min-runtime: 1s`, all started work ends. Written by",
                "`./mvnw test -Dtest=KueueBenchmark -Dqm.bench=true`; the goal is 3 % over the bound.",
                "",
                "| set-up | workloads | over after | bound | over the bound | mean wait for the first start | "
                        + "preempted | cpu of all plans |",
                "| --- | --- | --- | --- | --- | --- | --- | --- |"));
        for (SetUp setUp : List.of(BASELINE, LARGE_SCALE)) {
            lines.add(new Play(setUp, Settings.DEFAULT).run("defaults"));
            lines.add(new Play(setUp, minRuntime(1_000)).run("`min-runtime: 1s`"));
        }
        lines.forEach(System.out::println);
        Files.write(Path.of("benchmarks/kueue.md"), lines);
    }

    private static Settings minRuntime(long millis) {
        return Settings.DEFAULT.toBuilder().minRuntimeMillis(millis).settings();
    }

    /** A simulation of one set-up to its end. */
    private static final class Play implements SimulatedExecutor.Behaviour {
        private final SetUp setUp;
        private final Engine engine;
        private final SimulatedExecutor shell;
        private final Map<WorkloadId, Work> works = new HashMap<>();
        private final Map<WorkloadId, Long> starts = new HashMap<>();
        private final List<Workload> arriving = new ArrayList<>();
        private int arrived;
        private long replanMillis = Long.MAX_VALUE;
        private long preempted;
        private long cpuNanos;
        private long plans;

        Play(SetUp setUp, Settings settings) {
            this.setUp = setUp;
            this.engine = new Engine(settings);
            this.shell = new SimulatedExecutor(engine, new SimulatedCluster(), this);
        }

        @Override
        public OptionalLong runsForMillis(Workload workload) {
            return OptionalLong.of(work(workload.id()).runsMillis());
        }

        @Override
        public long graceMillis(Workload workload) {
            return 0;
        }

        @Override
        public boolean waitsAgain(Workload workload, EvictionCause evictionCause) {
            return true;
        }

        private Work work(WorkloadId id) {
            return Objects.requireNonNull(works.get(id));
        }

        String run(String settings) {
            engine.apply(quotas());
            arrivals();
            OptionalLong at = OptionalLong.of(0);
            long now = 0;
            while (at.isPresent()) {
                now = at.getAsLong();
                shell.applyDueEvents(now);
                arrive(now);
                settle(now);
                at = next(now);
            }
            assertThat(engine.waits()).as("nothing waits").isEmpty();
            assertThat(starts.size()).as("everything ran").isEqualTo(works.size());
            return row(now, settings);
        }

        private void arrive(long now) {
            while (arrived < arriving.size() && arriving.get(arrived).submittedMillis() <= now) {
                shell.setWorkload(arriving.get(arrived++));
            }
        }

        private OptionalLong next(long now) {
            OptionalLong due = shell.nextEventMillis(now);
            long arrives = arrived < arriving.size() ? arriving.get(arrived).submittedMillis() : Long.MAX_VALUE;
            long next = Math.min(due.orElse(Long.MAX_VALUE), Math.min(arrives, replanMillis));
            return next == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(next);
        }

        private List<Change> quotas() {
            List<Change> changes = new ArrayList<>();
            PoolId pool = new PoolId("pool");
            long ofCohort = (long) setUp.queues() * setUp.reserved() * 1_000;
            changes.add(new Change.PoolSet(Pool.ofCount(pool, setUp.cohorts() * ofCohort)));
            for (int c = 0; c < setUp.cohorts(); c++) {
                changes.add(new Change.QuotaSet(Quota.reserving(QuotaPath.of(cohort(c)), Scope.of(pool), ofCohort)
                        .withLimit(ofCohort)));
                for (int q = 0; q < setUp.queues(); q++) {
                    changes.add(new Change.QuotaSet(Quota.reserving(
                                    QuotaPath.of(cohort(c), queue(q)), Scope.of(pool), setUp.reserved() * 1_000L)
                            .withLimit((setUp.reserved() + MOST_BORROWED) * 1_000L)));
                }
            }
            return changes;
        }

        private void arrivals() {
            int number = 0;
            for (int c = 0; c < setUp.cohorts(); c++) {
                for (int q = 0; q < setUp.queues(); q++) {
                    for (Work work : setUp.work()) {
                        for (int i = 0; i < work.count(); i++) {
                            WorkloadId id = new WorkloadId(String.format("w%06d", number));
                            works.put(id, work);
                            arriving.add(new Workload(
                                    id,
                                    QuotaPath.of(cohort(c), queue(q)),
                                    Optional.empty(),
                                    Optional.empty(),
                                    Optional.empty(),
                                    Shape.ofWholeGpus(work.gpus()),
                                    List.of(new PoolId("pool")),
                                    work.priority(),
                                    true,
                                    false,
                                    false,
                                    (long) (i + 1) * work.everyMillis(),
                                    number++,
                                    OptionalLong.empty(),
                                    false,
                                    WorkloadPhase.waiting(),
                                    Optional.empty()));
                        }
                    }
                }
            }
            arriving.sort(Comparator.comparingLong(Workload::submittedMillis).thenComparingLong(Workload::sequence));
        }

        private static String cohort(int number) {
            return "cohort-" + number;
        }

        private static String queue(int number) {
            return String.format("queue-%03d", number);
        }

        private void settle(long now) {
            Plan plan;
            do {
                long from = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
                plan = shell.plan(now, decision -> take(decision, now));
                cpuNanos += ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - from;
                plans++;
            } while (!plan.decisions().isEmpty());
            replanMillis = plan.nextPlanAtMillis().orElse(Long.MAX_VALUE);
        }

        private void take(Decision decision, long now) {
            if (decision instanceof Decision.Start start) {
                starts.putIfAbsent(start.workload(), now);
            }
            preempted += decision instanceof Decision.Evict ? 1 : 0;
        }

        private String row(long overMillis, String settings) {
            StringBuilder mean = new StringBuilder();
            for (Work work : setUp.work().reversed()) {
                long sum = 0;
                long count = 0;
                for (Workload workload : arriving) {
                    if (work(workload.id()).equals(work)) {
                        sum += starts.getOrDefault(workload.id(), 0L) - workload.submittedMillis();
                        count++;
                    }
                }
                mean.append(mean.isEmpty() ? "" : ", ")
                        .append(work.name())
                        .append(' ')
                        .append(GpuFormat.decimal(sum / count))
                        .append(" s");
            }
            return String.format(
                    Locale.ROOT,
                    "| %s: %d x %d queues, %s | %d | %s s | %.1f s (%.1f s) | %.1f %% (%.1f %%) | %s | %d | %d "
                            + "ms, %d plans |",
                    setUp.name(),
                    setUp.cohorts(),
                    setUp.queues(),
                    settings,
                    arriving.size(),
                    GpuFormat.decimal(overMillis),
                    setUp.boundSeconds(),
                    setUp.boundByArrivalSeconds(),
                    100 * (overMillis / 1000.0 / setUp.boundSeconds() - 1),
                    100 * (overMillis / 1000.0 / setUp.boundByArrivalSeconds() - 1),
                    mean,
                    preempted,
                    cpuNanos / 1_000_000,
                    plans);
        }
    }
}
