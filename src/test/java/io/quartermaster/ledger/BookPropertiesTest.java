package io.quartermaster.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Properties of {@link Book} over random histories. */
@Tag("properties")
class BookPropertiesTest {

    /** The segments that a book returned at each close, and its state at the end. */
    private record Run(List<Segment> segments, BookState state) {}

    @Test
    void everySegmentIsTheOneCountedTickByTick() {
        forEachHistory((history, seed) -> {
            List<Segment> counted = merged(new TickModel(history.events(), RandomHistory.TICKS).segments());

            Run run = run(history, false);

            assertThat(run.segments()).as("seed %d", seed).isEqualTo(counted);
        });
    }

    /** Phases divide the held amount; they never change it. */
    @Test
    void whatIsHeldIsTheSameWhateverItsPhases() {
        forEachHistory((history, seed) -> {
            Book unmarked = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
            history.events().stream()
                    .filter(event -> !(event instanceof UsageEvent.PhaseChanged))
                    .forEach(unmarked::apply);

            assertThat(heldByAllocation(run(history, false).segments()))
                    .as("seed %d", seed)
                    .isEqualTo(heldByAllocation(unmarked.provisionalSegments(RandomHistory.TICKS)));
        });
    }

    private static Map<List<Object>, Long> heldByAllocation(List<Segment> segments) {
        Map<List<Object>, Long> sums = new HashMap<>();
        for (Segment segment : segments) {
            segment.held()
                    .ifPresent(held -> sums.merge(
                            List.of(held.allocation(), segment.usageClass(), held.standing()),
                            segment.gpuMilliMillis(),
                            Long::sum));
        }
        return sums;
    }

    @Test
    void aBookResumedFromItsStateAfterEveryStepGoesOnAsIfNothingHappened() {
        forSomeHistories((history, seed) ->
                assertThat(run(history, true)).as("seed %d", seed).isEqualTo(run(history, false)));
    }

    @Test
    void whenAnHourIsClosedDoesNotChangeItsSegments() {
        forEachHistory((history, seed) -> {
            Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
            for (UsageEvent event : history.events()) {
                assertThat(book.apply(event)).as("seed %d", seed).isInstanceOf(PostingResult.Posted.class);
            }

            assertThat(book.provisionalSegments(RandomHistory.TICKS))
                    .as("seed %d", seed)
                    .isEqualTo(run(history, false).segments());
        });
    }

    @Test
    void anEventDeliveredAgainIsRefusedAndChangesNothing() {
        forSomeHistories((history, seed) -> {
            Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
            List<UsageEvent> taken = new ArrayList<>();
            for (UsageEvent event : history.events()) {
                book.apply(event);
                taken.add(event);
                BookState before = book.state();
                UsageEvent again = taken.get((int) (seed & 0xffff) % taken.size());

                assertThat(book.apply(again)).as("seed %d", seed).isInstanceOf(PostingResult.NotLater.class);
                assertThat(book.state()).as("seed %d", seed).isEqualTo(before);
            }
        });
    }

    @Test
    void idsAreUniqueAndTheSameOnEveryRun() {
        forEachHistory((history, seed) -> {
            List<Segment> segments = run(history, false).segments();

            assertThat(segments.stream().map(Segment::id)).as("seed %d", seed).doesNotHaveDuplicates();
        });
    }

    private static Run run(RandomHistory history, boolean resumeEachStep) {
        Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
        List<Segment> segments = new ArrayList<>();
        for (RandomHistory.Step step : history.steps) {
            switch (step) {
                case RandomHistory.Step.Take(UsageEvent event) ->
                    assertThat(book.apply(event)).isInstanceOf(PostingResult.Posted.class);
                case RandomHistory.Step.Close(long hourEndMillis) -> segments.addAll(book.close(hourEndMillis));
            }
            if (resumeEachStep) {
                book = Book.resume(book.state());
            }
        }
        segments.addAll(book.provisionalSegments(RandomHistory.TICKS));
        return new Run(merged(segments), book.state());
    }

    private static List<Segment> merged(List<Segment> segments) {
        return segments.stream().sorted(Segment.ORDER).toList();
    }

    private interface Property {
        void holds(RandomHistory history, long seed);
    }

    private static void forEachHistory(Property property) {
        forHistories(RandomHistory.COUNT, property);
    }

    /** For properties that check the whole state after every step. */
    private static void forSomeHistories(Property property) {
        forHistories(RandomHistory.COUNT / 5, property);
    }

    private static void forHistories(int histories, Property property) {
        RandomCases.forEach(histories, 90, (seed, judged) -> {
            RandomHistory history = new RandomHistory(seed);
            if (!run(history, false).segments().isEmpty()) {
                judged.check();
            }
            property.holds(history, seed);
        });
    }
}
