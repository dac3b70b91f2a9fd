package io.quartermaster.ledger;

import static io.quartermaster.ledger.Usage.Dimension.CLASS;
import static io.quartermaster.ledger.Usage.Dimension.GROUP;
import static io.quartermaster.ledger.Usage.Dimension.HOUR;
import static io.quartermaster.ledger.Usage.Dimension.POOL;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class UsageTest {
    @Test
    @Tag("properties")
    void hoursAndGroupsAndEveryOtherDivisionAddUpToTheWhole() {
        RandomCases.forEach(1_000, 90, (seed, judged) -> {
            List<Segment> segments = segments(seed);
            if (!segments.isEmpty()) {
                judged.check();
            }
            Usage.Totals whole = total(rows(segments, List.of()));
            List<Usage.Dimension> some = new ArrayList<>(EnumSet.allOf(Usage.Dimension.class));
            Collections.shuffle(some, new Random(seed));
            some = some.subList(0, new Random(seed).nextInt(some.size()));

            assertThat(total(rows(segments, some)))
                    .as("seed %d by %s", seed, some)
                    .isEqualTo(whole);
        });
    }

    @Test
    @Tag("properties")
    void theOrderOfAddingChangesNothing() {
        RandomCases.forEach(1_000, 90, (seed, judged) -> {
            List<Segment> shuffled = new ArrayList<>(segments(seed));
            if (shuffled.size() > 1) {
                judged.check();
            }
            Collections.shuffle(shuffled, new Random(seed));

            assertThat(rows(shuffled, List.of(HOUR, GROUP, CLASS)))
                    .as("seed %d", seed)
                    .isEqualTo(rows(segments(seed), List.of(HOUR, GROUP, CLASS)));
        });
    }

    @Test
    void theHoursComeInOrderAndUsageWithoutAGroupFirst() {
        List<Segment> segments =
                List.of(idle(100, 110, 1), idle(20, 30, 2), held(20, 25, 3, UsageClass.RESERVED, Standing.WITHIN));

        List<Usage.Row> rows = rows(segments, List.of(HOUR, GROUP));

        assertThat(rows.stream().map(Usage.Row::key))
                .containsExactly(
                        new TreeMap<>(Map.of(HOUR, "20")),
                        new TreeMap<>(Map.of(HOUR, "20", GROUP, "/research/nlp")),
                        new TreeMap<>(Map.of(HOUR, "100")));
    }

    @Test
    void classesAndStandingsAreNeverAddedToEachOther() {
        List<Segment> segments = List.of(
                held(0, 10, 3, UsageClass.RESERVED, Standing.WITHIN),
                held(0, 10, 2, UsageClass.ON_DEMAND, Standing.WITHIN),
                held(0, 10, 1, UsageClass.ON_DEMAND, Standing.OVER_QUOTA),
                idle(0, 10, 7),
                Segment.notHeld(new TenantKey("acme"), new PoolKey("h100"), UsageClass.RESERVED_UNMET, 9, 0, 10));

        Usage.Totals totals = rows(segments, List.of(POOL)).get(0).totals();

        assertThat(totals)
                .isEqualTo(new Usage.Totals(
                        GpuTime.of(30),
                        GpuTime.of(30),
                        GpuTime.of(70),
                        GpuTime.of(90),
                        GpuTime.of(50),
                        GpuTime.of(10)));
        assertThat(totals.held()).isEqualTo(GpuTime.of(60));
    }

    @Test
    void sumsPassALongWithoutAnError() {
        Segment large = idle(0, BookState.HOUR_MILLIS, UsageEvent.MAX_GPU_MILLI);

        Usage.Totals totals =
                Usage.sum(Collections.nCopies(10, large), List.of()).get(0).totals();

        assertThat(totals.reservedIdle()).hasToString("36000000000000000000");
    }

    private static List<Segment> segments(long seed) {
        Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
        new RandomHistory(seed).events().forEach(book::apply);
        return book.provisionalSegments(RandomHistory.TICKS);
    }

    private static List<Usage.Row> rows(List<Segment> segments, List<Usage.Dimension> dimensions) {
        Usage usage = new Usage(dimensions, RandomHistory.HOUR);
        segments.forEach(usage::add);
        return usage.rows();
    }

    private static Usage.Totals total(List<Usage.Row> rows) {
        return rows.stream().map(Usage.Row::totals).reduce(Usage.Totals.ZERO, Usage.Totals::plus);
    }

    private static Segment idle(long from, long to, long gpuMilli) {
        return Segment.notHeld(
                new TenantKey("acme"), new PoolKey("h100"), UsageClass.RESERVED_IDLE, gpuMilli, from, to);
    }

    private static Segment held(long from, long to, long gpuMilli, UsageClass usageClass, Standing standing) {
        AllocationMarks allocationMarks = RandomHistory.marks(new PolicyId("nlp"), "job");
        Segment.Held held = new Segment.Held(new AllocationId("a"), standing, Phase.RUNNING, allocationMarks);
        return Segment.held(new TenantKey("acme"), new PoolKey("h100"), usageClass, held, gpuMilli, from, to);
    }
}
