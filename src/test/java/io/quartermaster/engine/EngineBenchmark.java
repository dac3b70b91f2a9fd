package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Benchmark of the engine, in CPU time of the deciding thread. A checker that is independent of the engine replays
 * every measured plan: no GPU is allocated twice, no work beyond its reservation starts before work within one, and
 * gangs are complete. {@code ./mvnw test -Dtest=EngineBenchmark -Dqm.bench=true} writes {@code benchmarks/engine.md}.
 */
@EnabledIfSystemProperty(named = "qm.bench", matches = "true")
class EngineBenchmark {
    private static final int ROUNDS = Integer.getInteger("qm.bench.rounds", 15);
    /** Rounds before the measurement, which otherwise would measure the JIT compiler more than the engine. */
    private static final int WARM_UP = Integer.getInteger("qm.bench.warmup", 15);

    private static final int EVENTS = 20_000;
    private static final int EVENTS_TO_WARM_UP = 15_000;
    private static final long SEED = 7;

    private final List<String> lines = new ArrayList<>();

    @Test
    void measure() throws IOException {
        lines.add("| what | figure | goal |");
        lines.add("| --- | --- | --- |");
        fillAndAfter(false);
        fillAndAfter(true);
        for (int nodes : new int[] {100, 500, 1_000, 5_000}) {
            reclaim(nodes);
        }
        memory();
        atScale();
        lines.forEach(System.out::println);
        write();
    }

    private static long cpuNanos() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private void fillAndAfter(boolean mix) {
        int nodes = 1_250;
        List<Change> base = BenchCell.nodes(nodes);
        base.addAll(BenchCell.quotas(nodes * 8));
        List<Change> jobs = BenchCell.jobs(100_000, mix, SEED);
        long[] fill = new long[ROUNDS];
        long[] again = new long[ROUNDS];
        Engine last = new Engine(Settings.DEFAULT);
        int started = 0;
        for (int turn = -WARM_UP; turn < ROUNDS; turn++) {
            int round = Math.max(0, turn);
            last = new Engine(Settings.DEFAULT);
            last.apply(base);
            last.apply(jobs);
            last.buildState();
            long from = cpuNanos();
            Plan plan = last.plan(1_000_000);
            fill[round] = cpuNanos() - from;
            started = check(plan, nodes);
            from = cpuNanos();
            last.plan(1_000_001);
            again[round] = cpuNanos() - from;
        }
        String what = mix ? "mix of halves, 1, 2, 4 and 8 GPUs" : "1 GPU each";
        lines.add(row(
                "Fill: 10,000 GPUs, 100,000 waiting, 10 x 10 groups, " + what + " (" + started + " starts)",
                millis(fill),
                "15 ms"));
        lines.add(row("First plan after it that decides nothing, " + what, millis(again), ""));
        lines.add(row("Idle plan after that, nothing new, " + what, idle(last), "0.2 ms"));
        events(last, what);
        fork(last, what);
    }

    private static String idle(Engine engine) {
        long[] idle = new long[1_000];
        for (int i = 0; i < idle.length; i++) {
            long from = cpuNanos();
            engine.plan(1_500_000 + i);
            idle[i] = cpuNanos() - from;
        }
        return millis(idle);
    }

    /** Measures the end of a running job with the plan that gives its GPU to the next job. */
    private void events(Engine engine, String what) {
        long[] took = new long[EVENTS];
        List<WorkloadId> running = running(engine);
        Random random = new Random(SEED);
        for (int i = 0; i < EVENTS; i++) {
            took[i] = oneEnd(engine, running, random, 2_000_000 + i);
        }
        long[] warm = Arrays.copyOfRange(took, EVENTS_TO_WARM_UP, EVENTS);
        Arrays.sort(warm);
        lines.add(row(
                "One end to the decision, " + what,
                String.format(Locale.ROOT, "p50 %d us, p99 %d us", at(warm, 500) / 1_000, at(warm, 990) / 1_000),
                "p50 5 us, p99 50 us"));
    }

    private static long at(long[] sorted, int perMille) {
        return sorted[(int) ((long) sorted.length * perMille / 1_000)];
    }

    private static List<WorkloadId> running(Engine engine) {
        List<WorkloadId> running = new ArrayList<>();
        for (Change change : engine.snapshot().facts()) {
            if (change instanceof Change.WorkloadSet(Workload workload)
                    && workload.state() instanceof WorkloadPhase.Holding) {
                running.add(workload.id());
            }
        }
        return running;
    }

    /** Ends a random job and plans; returns the CPU time of both, in nanoseconds. */
    private static long oneEnd(Engine engine, List<WorkloadId> running, Random random, long nowMillis) {
        int at = random.nextInt(running.size());
        WorkloadId ended = running.get(at);
        running.set(at, running.getLast());
        running.removeLast();
        long from = cpuNanos();
        engine.apply(List.of(new Change.WorkloadRemoved(ended)));
        Plan plan = engine.plan(nowMillis);
        long took = cpuNanos() - from;
        plan.decisions().forEach(decision -> running.add(decision.workload()));
        return took;
    }

    private void fork(Engine engine, String what) {
        long[] took = new long[ROUNDS];
        for (int i = 0; i < took.length; i++) {
            long from = cpuNanos();
            engine.fork();
            took[i] = cpuNanos() - from;
        }
        lines.add(row("A fork of that state, " + what, millis(took), "5 ms"));
    }

    private void reclaim(int nodes) {
        List<Change> state = BenchCell.reclaim(nodes);
        long[] took = new long[ROUNDS];
        int victims = 0;
        for (int turn = -WARM_UP; turn < ROUNDS; turn++) {
            int round = Math.max(0, turn);
            Engine engine = new Engine(Settings.DEFAULT);
            engine.apply(state);
            engine.buildState();
            long from = cpuNanos();
            Plan plan = engine.plan(1_000_000_000L);
            took[round] = cpuNanos() - from;
            victims = (int) plan.decisions().stream()
                    .filter(Decision.Evict.class::isInstance)
                    .count();
        }
        assertThat(victims).as("no more victims than the gang needs").isEqualTo(nodes / 10 * 8);
        lines.add(row(
                "Reclaim: " + nodes + " nodes full of 1-GPU jobs, a gang of " + nodes / 10 + " x 8 GPUs",
                millis(took),
                nodes == 500 ? "8 ms" : nodes == 1_000 ? "16 ms" : nodes == 5_000 ? "100 ms" : ""));
    }

    private void memory() {
        Engine engine = new Engine(Settings.DEFAULT);
        List<Change> base = BenchCell.nodes(1_250);
        base.addAll(BenchCell.quotas(10_000));
        engine.apply(base);
        engine.plan(1);
        long before = usedBytes();
        int waiting = 100_000;
        engine.apply(BenchCell.jobs(waiting, true, SEED));
        engine.plan(2);
        long after = usedBytes();
        lines.add(row("Memory of a waiting workload, of 100,000", (after - before) / waiting + " B", "1,000 B"));
        assertThat(engine.waits()).isNotEmpty();
    }

    private static long usedBytes() {
        for (int i = 0; i < 5; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Measures a cell of eighty thousand GPUs, a million waiting jobs and ten thousand groups. */
    private void atScale() {
        int nodes = 10_000;
        List<Change> base = BenchCell.nodes(nodes);
        base.addAll(BenchCell.quotas(nodes * 8, 100, 100));
        List<Change> jobs = BenchCell.jobs(1_000_000, 100, 100, SEED);
        int rounds = 5;
        long[] fill = new long[rounds];
        Engine last = new Engine(Settings.DEFAULT);
        for (int round = -2; round < rounds; round++) {
            last = new Engine(Settings.DEFAULT);
            last.apply(base);
            last.apply(jobs);
            last.buildState();
            long from = cpuNanos();
            Plan plan = last.plan(1_000_000);
            fill[Math.max(0, round)] = cpuNanos() - from;
            check(plan, nodes);
            last.plan(1_000_001);
        }
        String what = "80,000 GPUs, 1,000,000 waiting of 1 GPU each, 100 x 100 groups";
        lines.add(row("Fill: " + what, millis(fill), "150 ms"));
        lines.add(row("Idle plan after that", idle(last), "1 ms"));
        events(last, what);
        fork(last, what);
    }

    /** Replays the starts and returns their number. */
    private static int check(Plan plan, int nodes) {
        Map<String, Integer> held = new HashMap<>();
        Set<WorkloadId> seen = new HashSet<>();
        int gpuMilli = 0;
        for (Decision decision : plan.decisions()) {
            assertThat(decision).isInstanceOf(Decision.Start.class);
            Decision.Start start = (Decision.Start) decision;
            assertThat(seen.add(start.workload())).isTrue();
            for (Allocation.Worker worker : start.allocation().workers()) {
                Allocation.Place.OnNode place = (Allocation.Place.OnNode) worker.place();
                for (Allocation.Share share : place.shares()) {
                    int now = held.merge(place.node() + "/" + share.device(), share.gpuMilli(), Integer::sum);
                    assertThat(now).isLessThanOrEqualTo(1_000);
                    gpuMilli += share.gpuMilli();
                }
            }
        }
        assertThat(gpuMilli).as("the cell is full").isEqualTo(nodes * 8_000);
        return seen.size();
    }

    private static String millis(long[] nanos) {
        long[] sorted = nanos.clone();
        Arrays.sort(sorted);
        return String.format(Locale.ROOT, "%.3f ms (best %.3f)", sorted[sorted.length / 2] / 1e6, sorted[0] / 1e6);
    }

    private static String row(String what, String figure, String goal) {
        return "| " + what + " | " + figure + " | " + goal + " |";
    }

    private void write() throws IOException {
        List<String> text = new ArrayList<>(List.of(
                "# Engine",
                "",
                "CPU time of the planning thread (JDK " + Runtime.version().feature()
                        + "), with a fixed seed. Each figure is the median of " + ROUNDS + " rounds in one process",
                "after " + WARM_UP + " rounds of warm-up. With a million waiting workloads it is the median of 5 "
                        + "rounds after 2. Event figures cover",
                "the last " + (EVENTS - EVENTS_TO_WARM_UP) + " of " + EVENTS
                        + " events. A checker replays every plan. Written by",
                "`./mvnw test -Dtest=EngineBenchmark -Dqm.bench=true`. The goal stands beside each figure, also "
                        + "where it is missed.",
                ""));
        text.addAll(lines);
        Files.write(Path.of("benchmarks/engine.md"), text);
    }
}
