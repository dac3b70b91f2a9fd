package io.quartermaster.ledger.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.RandomHistory;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SegmentReplayTest {
    private static final TenantKey ACME = new TenantKey("acme");
    private static final PoolKey POOL = new PoolKey("h100");
    private static final BookState NOTHING = BookState.empty(ACME, 100);
    private static final List<UsageEvent> EVENTS = List.of(
            new UsageEvent.TenantReserved(0, 1, ACME, POOL, 1_000),
            allocated(10, 2, "a"),
            allocated(20, 3, "b"),
            new UsageEvent.PhaseChanged(30, 4, ACME, new AllocationId("b"), Phase.RUNNING));

    @Test
    @Tag("properties")
    void everyClosedHourIsTheSameWhenReplayedFromTheHourBefore() {
        RandomCases.forEach(1_000, 65, (seed, judged) -> {
            RandomHistory history = new RandomHistory(seed);
            Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
            BookState opening = book.state();
            List<UsageEvent> later = new ArrayList<>();
            for (RandomHistory.Step step : history.steps) {
                if (step instanceof RandomHistory.Step.Take(UsageEvent event)) {
                    book.apply(event);
                    later.add(event);
                } else if (step instanceof RandomHistory.Step.Close(long end)) {
                    List<Segment> closed = book.close(end);
                    assertThat(SegmentReplay.compare(opening, later, closed, end))
                            .as("seed %d", seed)
                            .isEqualTo(new SegmentReplay.Match(closed.size()));
                    judged.check();
                    opening = book.state();
                    later.clear();
                }
            }
        });
    }

    @Test
    void twoAllocationsInEachOthersPlacesAreSeenThoughAllAmountsAreRight() {
        List<Segment> swapped = new ArrayList<>();
        for (Segment s : closed()) {
            swapped.add(s.fromMillis() < 20 ? s : withAllocation(s));
        }

        assertThat(SegmentReplay.compare(NOTHING, EVENTS, swapped, 100)).isInstanceOf(SegmentReplay.Mismatch.class);
    }

    @Test
    void anotherPhaseIsSeenAndBothSidesAreShown() {
        List<Segment> changed = new ArrayList<>(closed());
        Segment last = changed.removeLast();
        Segment.Held held = last.held().orElseThrow();
        Segment other = Segment.held(
                ACME,
                POOL,
                last.usageClass(),
                new Segment.Held(held.allocation(), held.standing(), Phase.STOPPING, held.marks()),
                last.gpuMilli(),
                last.fromMillis(),
                last.toMillis());
        changed.add(other);

        assertThat(SegmentReplay.compare(NOTHING, EVENTS, changed, 100))
                .isEqualTo(new SegmentReplay.Mismatch(Optional.of(last), Optional.of(other)));
    }

    @Test
    void aMissingAndAnAddedSegmentAreNamed() {
        List<Segment> closed = closed();
        Segment extra = Segment.notHeld(ACME, POOL, UsageClass.RESERVED_UNMET, 5, 90, 100);
        List<Segment> more = new ArrayList<>(closed);
        more.add(extra);

        assertThat(SegmentReplay.compare(NOTHING, EVENTS, closed.subList(1, closed.size()), 100))
                .isEqualTo(new SegmentReplay.Mismatch(Optional.of(closed.get(0)), Optional.empty()));
        assertThat(SegmentReplay.compare(NOTHING, EVENTS, more, 100))
                .isEqualTo(new SegmentReplay.Mismatch(Optional.empty(), Optional.of(extra)));
    }

    @Test
    void eventsThatDoNotFollowAreNamed() {
        UsageEvent freed = new UsageEvent.Freed(5, 1, ACME, new AllocationId("never"));

        assertThat(SegmentReplay.compare(NOTHING, List.of(freed), List.of(), 100))
                .isEqualTo(new SegmentReplay.RefusedEvent(
                        new PostingResult.UnknownAllocation(freed, new AllocationId("never"))));
    }

    private static List<Segment> closed() {
        Book book = Book.resume(NOTHING);
        EVENTS.forEach(book::apply);
        return book.close(100);
    }

    /** The segment with the other allocation. */
    private static Segment withAllocation(Segment s) {
        Optional<Segment.Held> held = s.held()
                .map(h -> new Segment.Held(
                        new AllocationId(h.allocation().value().equals("a") ? "b" : "a"),
                        h.standing(),
                        h.phase(),
                        h.marks()));
        return new Segment(s.tenant(), s.pool(), s.usageClass(), held, s.gpuMilli(), s.fromMillis(), s.toMillis());
    }

    private static UsageEvent allocated(long at, long seq, String id) {
        AllocationMarks allocationMarks = RandomHistory.marks(new PolicyId("nlp"), "job");
        return new UsageEvent.Allocated(at, seq, ACME, new AllocationId(id), POOL, 1_000, allocationMarks);
    }
}
