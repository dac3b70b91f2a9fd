package io.quartermaster.engine.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@EnabledIfSystemProperty(named = "qm.bench.parts", matches = ".+")
class RepresentativeBenchmark {
    private final CellScale scale = CellScale.configured();
    private final Violations violations = new Violations();

    @Test
    void measure() {
        long limit = Long.getLong("qm.bench.seconds", 120) * 1_000_000_000L;
        System.out.println(scale.text());
        for (int round = 0; round < 2; round++) {
            FilledCell filled = FilledCell.fill(scale, CellVariant.BASE, violations, System.nanoTime() + limit);
            System.out.println(filled.text() + " " + filled.complete() + " last " + filled.lastPlanNanos());
            if (filled.complete() && round == 1) {
                System.out.println("idle "
                        + filled.idlePlans(20, System.nanoTime() + limit).text());
                Samples events = new Samples();
                long until = System.nanoTime() + limit;
                while (System.nanoTime() < until && events.size() < 2000) {
                    events.add(filled.nextEvent());
                }
                System.out.println(String.format(
                        Locale.ROOT,
                        "events %d p50 %.3f p99 %.3f max %.3f; moves %d evictions %d",
                        events.size(),
                        events.millis(500),
                        events.millis(990),
                        events.maxMillis(),
                        filled.shell().moves(),
                        filled.shell().evictions()));
            }
        }
        violations.first().forEach(System.out::println);
        assertThat(violations.countByRule()).as(scale.text()).isEmpty();
    }
}
