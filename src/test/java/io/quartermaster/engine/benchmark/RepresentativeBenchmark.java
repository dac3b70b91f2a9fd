package io.quartermaster.engine.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Benchmark of the engine on cells that resemble real ones. {@code ./qm bench} runs it, and {@code ./qm bench --help}
 * names its parts and its system properties. It fails if the checker finds that a plan breaks a rule; with
 * {@code -Dqm.bench.check=true} also if a figure is out of the range around its goal.
 */
@EnabledIfSystemProperty(named = "qm.bench.parts", matches = ".+")
class RepresentativeBenchmark {
    private static final List<String> PARTS = List.of("fill", "features", "even", "changes", "churn");

    @Test
    void measure() throws IOException {
        List<String> asked = Arrays.stream(
                        System.getProperty("qm.bench.parts", "").split(","))
                .flatMap(part -> part.equals("all") ? PARTS.stream() : Stream.of(part))
                .toList();
        assertThat(PARTS).as("the parts of the benchmark").containsAll(asked);
        CellScale scale = CellScale.configured();
        BenchmarkReport report = new BenchmarkReport(Calibration.slowness());
        Violations violations = new Violations();
        BenchmarkParts parts = new BenchmarkParts(scale, BenchmarkParts.Limits.configured(), report, violations);
        for (String part : asked) {
            switch (part) {
                case "fill" -> parts.fill();
                case "features" -> parts.features();
                case "even" -> parts.even();
                case "changes" -> parts.changes();
                case "churn" -> parts.churn();
                default -> throw new IllegalArgumentException("there is no part " + part);
            }
            report.write();
        }
        System.out.println(String.format(
                Locale.ROOT, "The checker replayed %,d plans: %s", violations.plans(), violations.countByRule()));
        violations.first().forEach(System.out::println);
        assertThat(violations.countByRule())
                .as("rules that plans break, with " + scale.text())
                .isEmpty();
        if (Boolean.getBoolean("qm.bench.check")) {
            assertThat(report.outOfRange()).as("figures out of range").isEmpty();
        }
    }
}
