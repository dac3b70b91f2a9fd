package io.quartermaster.engine;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.WorkloadId;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Benchmark of ends and arrivals without a pause: the time from each event to its decision, and the pauses of the
 * garbage collector. {@code ./mvnw test -Dtest=ChurnBenchmark -Dqm.bench.churn=600} writes {@code benchmarks/churn.md}
 * after 600 seconds.
 */
@EnabledIfSystemProperty(named = "qm.bench.churn", matches = "[0-9]+")
class ChurnBenchmark {
    private static final long SEED = 7;
    private static final long SECONDS = Long.getLong("qm.bench.churn", 60);
    /** Events before the measurement, which otherwise would measure the JIT compiler more than the engine. */
    private static final int EVENTS_TO_WARM_UP = 20_000;

    @Test
    void churn() throws IOException {
        Engine engine = new Engine(Settings.DEFAULT);
        engine.apply(BenchCell.nodes(1_250));
        engine.apply(BenchCell.quotas(10_000));
        BenchShell shell = new BenchShell(engine);
        List<Change> jobs = BenchCell.jobs(100_000, true, SEED);
        shell.submit(jobs);
        shell.plan(List.of(), 1);
        shell.plan(List.of(), 2);
        Random random = new Random(SEED);
        long[] took = new long[8_000_000];
        int events = 0;
        int number = jobs.size();
        Pauses pauses = new Pauses();
        long until = System.nanoTime() + SECONDS * 1_000_000_000L;
        while (System.nanoTime() < until && events < took.length) {
            long now = 1_000 + events;
            Optional<WorkloadId> victim = shell.nextLeaving();
            Change event;
            if (victim.isPresent()) {
                event = shell.leave(victim.get(), now);
            } else if (shell.waiting() < 90_000) {
                QuotaPath path = QuotaPath.of("t" + random.nextInt(10), "g" + random.nextInt(10));
                event = shell.arrive(BenchCell.mixed(number++, path, random));
            } else {
                event = shell.end(shell.anyRunning(random));
            }
            took[events++] = shell.plan(List.of(event), now);
        }
        write(Arrays.copyOfRange(took, Math.min(EVENTS_TO_WARM_UP, events / 2), events), shell.stopped(), pauses);
    }

    private static void write(long[] took, int stopped, Pauses pauses) throws IOException {
        Arrays.sort(took);
        List<String> text = List.of(
                "# Churn",
                "",
                "10,000 GPUs are full and 90,000 workloads wait, a mix of halves, 1, 2, 4 and 8 GPUs. For " + SECONDS
                        + " s without a pause",
                "running workloads end and others are submitted, with a plan after each. Victims leave immediately, "
                        + "with a plan after each.",
                "The first figure is the CPU time of the planning thread from the event to the decision. The second "
                        + "is the pauses that",
                "the JVM's collectors report (JDK " + Runtime.version().feature() + ", " + pauses.collectors() + ").",
                "Written by `./mvnw test -Dtest=ChurnBenchmark -Dqm.bench.churn=" + SECONDS + collector() + "`.",
                "The goal for pauses applies to ten minutes.",
                "",
                "| what | figure | goal |",
                "| --- | --- | --- |",
                String.format(
                        Locale.ROOT,
                        "| One event to the decision, %d of them, %d of them with an order to stop, for a move or a "
                                + "preemption | p50 %d us, p99 %d us, p99.9 %d us, longest %d us | p50 5 us, p99 50 us, p99.9 500 us |",
                        took.length,
                        stopped,
                        at(took, 500),
                        at(took, 990),
                        at(took, 999),
                        at(took, 1_000)),
                String.format(
                        Locale.ROOT,
                        "| Longest pause of the collector, of %d | %d ms | 5 ms |",
                        pauses.count(),
                        pauses.longestMillis()));
        text.forEach(System.out::println);
        Files.write(Path.of("benchmarks/churn.md"), text);
    }

    /** The JVM options that chose the collector, in the form for the command line of Maven. */
    private static String collector() {
        List<String> chosen = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(argument -> argument.matches("-XX:\\+Use[A-Za-z0-9]+GC"))
                .toList();
        return chosen.isEmpty() ? "" : " -DargLine=" + String.join(" ", chosen);
    }

    private static long at(long[] sortedNanos, int perMille) {
        return sortedNanos[(int) Math.min(sortedNanos.length - 1, (long) sortedNanos.length * perMille / 1_000)]
                / 1_000;
    }
}
