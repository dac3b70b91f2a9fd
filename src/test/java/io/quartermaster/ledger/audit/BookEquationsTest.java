package io.quartermaster.ledger.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.RandomHistory;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.UsageClass;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The equations hold for every valid history, and for none whose segments were changed. */
class BookEquationsTest {
    private static final BookState NOTHING = BookState.empty(RandomHistory.TENANT, RandomHistory.HOUR);

    @Test
    @Tag("properties")
    void allEquationsHoldForEveryHistory() {
        RandomCases.forEach(RandomHistory.COUNT, 90, (seed, judged) -> {
            RandomHistory history = new RandomHistory(seed);

            BookEquations.Report report =
                    BookEquations.check(NOTHING, history.events(), segments(history), 0, RandomHistory.TICKS);

            assertThat(report.violations()).isEmpty();
            for (BookEquations.PoolSums pool : report.pools()) {
                judged.check();
                Usage.Totals totals = pool.totals();
                assertThat(totals.reserved().plus(totals.reservedIdle()))
                        .as("seed %d", seed)
                        .isEqualTo(pool.stated());
                assertThat(totals.reserved().plus(totals.onDemand()))
                        .as("seed %d", seed)
                        .isEqualTo(pool.held());
                assertThat(totals.within().plus(totals.overQuota()))
                        .as("seed %d", seed)
                        .isEqualTo(pool.held());
            }
        });
    }

    @Test
    @Tag("properties")
    void anyWindowCanBeCheckedFromTheStateOfAClosedHour() {
        RandomCases.forEach(RandomHistory.COUNT, 90, (seed, judged) -> {
            RandomHistory history = new RandomHistory(seed);
            Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
            BookState opening = book.state();
            List<UsageEvent> later = new ArrayList<>();
            List<Segment> given = new ArrayList<>();
            for (RandomHistory.Step step : history.steps) {
                switch (step) {
                    case RandomHistory.Step.Take(UsageEvent event) -> {
                        book.apply(event);
                        later.add(event);
                    }
                    case RandomHistory.Step.Close(long hourEndMillis) -> {
                        given.addAll(book.close(hourEndMillis));
                        opening = book.state();
                        later.clear();
                    }
                }
            }
            given.addAll(book.provisionalSegments(RandomHistory.TICKS));
            long from = Math.min(opening.closedUntilMillis() + new Random(seed).nextInt(7), RandomHistory.TICKS);
            if (!given.isEmpty()) {
                judged.check();
            }
            long to = from + new Random(seed).nextInt(RandomHistory.TICKS + 1 - (int) from);

            assertThat(BookEquations.check(opening, later, given, from, to).violations())
                    .as("seed %d", seed)
                    .isEmpty();
        });
    }

    @Test
    @Tag("properties")
    void noSingleChangeToASegmentGoesUnseen() {
        RandomCases.forEach(RandomHistory.COUNT, 90, (seed, judged) -> {
            RandomHistory history = new RandomHistory(seed);
            List<Segment> segments = segments(history);
            if (segments.isEmpty()) {
                return;
            }
            judged.check();
            Random random = new Random(seed);
            Segment victim = segments.get(random.nextInt(segments.size()));
            List<Segment> changed = new ArrayList<>(segments);
            changed.remove(victim);
            damage(victim, random.nextInt(8)).ifPresent(changed::add);

            assertThat(BookEquations.check(NOTHING, history.events(), changed, 0, RandomHistory.TICKS)
                            .holds())
                    .as("seed %d, %s", seed, victim)
                    .isFalse();
        });
    }

    @Test
    void aSegmentGivenTwiceIsNamedByItsId() {
        UsageEvent reserved = new UsageEvent.TenantReserved(3, 1, RandomHistory.TENANT, RandomHistory.POOLS.get(0), 7);
        Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
        book.apply(reserved);
        Segment idle = book.provisionalSegments(5).get(0);

        BookEquations.Report report = BookEquations.check(NOTHING, List.of(reserved), List.of(idle, idle), 0, 5);

        assertThat(report.violations())
                .containsExactly(
                        new BookEquations.Violation(
                                BookEquations.Rule.ONE_ID, idle.id().toString(), 3, 1, 2),
                        new BookEquations.Violation(BookEquations.Rule.RESERVED_IS_USED_OR_IDLE, "h100", 3, 7, 14));
    }

    @Test
    void aStreamThatCannotBeTrueIsNamedByRule() {
        TenantKey tenant = RandomHistory.TENANT;
        AllocationId a = new AllocationId("a");
        UsageEvent allocated = new UsageEvent.Allocated(
                1,
                1,
                tenant,
                a,
                RandomHistory.POOLS.get(0),
                5,
                RandomHistory.marks(RandomHistory.POLICIES.get(0), "j"));
        UsageEvent again = new UsageEvent.Allocated(
                2,
                2,
                tenant,
                a,
                RandomHistory.POOLS.get(0),
                5,
                RandomHistory.marks(RandomHistory.POLICIES.get(0), "j"));
        List<UsageEvent> events = List.of(
                allocated,
                again,
                new UsageEvent.Freed(3, 3, tenant, a),
                new UsageEvent.Freed(4, 4, tenant, a),
                new UsageEvent.PhaseChanged(5, 5, tenant, a, Phase.RUNNING),
                new UsageEvent.Unmet(4, 6, tenant, RandomHistory.POOLS.get(0), 0),
                new UsageEvent.Freed(6, 7, new TenantKey("tenant-b"), a));

        BookEquations.Report report = BookEquations.check(NOTHING, events, List.of(), 5, 10);

        assertThat(report.violations().stream().map(BookEquations.Violation::rule))
                .containsExactly(
                        BookEquations.Rule.ALLOCATED_ONCE,
                        BookEquations.Rule.FREED_ONCE,
                        BookEquations.Rule.PHASE_WHILE_HELD,
                        BookEquations.Rule.STREAM_IN_ORDER,
                        BookEquations.Rule.ONE_TENANT);
    }

    private static List<Segment> segments(RandomHistory history) {
        Book book = Book.empty(RandomHistory.TENANT, RandomHistory.HOUR);
        history.events().forEach(event -> assertThat(book.apply(event)).isInstanceOf(PostingResult.Posted.class));
        return book.provisionalSegments(RandomHistory.TICKS);
    }

    /** The damaged segment, if any remains. */
    private static Optional<Segment> damage(Segment s, int kind) {
        return switch (kind) {
            case 0 -> Optional.empty();
            case 1 -> Optional.of(with(s, s.usageClass(), s.held(), s.gpuMilli() + 1, s.fromMillis(), s.toMillis()));
            case 2 ->
                Optional.of(with(s, s.usageClass(), s.held(), s.gpuMilli(), s.fromMillis(), s.toMillis() + 1))
                        .filter(longer -> longer.toMillis() <= RandomHistory.TICKS);
            case 3 -> Optional.of(with(s, otherClass(s), s.held(), s.gpuMilli(), s.fromMillis(), s.toMillis()));
            case 4 ->
                s.held()
                        .map(h -> with(
                                s,
                                s.usageClass(),
                                Optional.of(otherStanding(h)),
                                s.gpuMilli(),
                                s.fromMillis(),
                                s.toMillis()));
            case 5 ->
                s.held()
                        .map(h -> with(
                                s,
                                s.usageClass(),
                                Optional.of(otherWorkload(h)),
                                s.gpuMilli(),
                                s.fromMillis(),
                                s.toMillis()));
            case 6 ->
                Optional.of(new Segment(
                        new TenantKey("tenant-b"),
                        s.pool(),
                        s.usageClass(),
                        s.held(),
                        s.gpuMilli(),
                        s.fromMillis(),
                        s.toMillis()));
            default ->
                Optional.of(new Segment(
                        s.tenant(),
                        new PoolKey("other"),
                        s.usageClass(),
                        s.held(),
                        s.gpuMilli(),
                        s.fromMillis(),
                        s.toMillis()));
        };
    }

    private static Segment with(
            Segment s, UsageClass usageClass, Optional<Segment.Held> held, long gpuMilli, long from, long to) {
        return new Segment(s.tenant(), s.pool(), usageClass, held, gpuMilli, from, to);
    }

    private static UsageClass otherClass(Segment s) {
        return switch (s.usageClass()) {
            case RESERVED -> UsageClass.ON_DEMAND;
            case ON_DEMAND -> UsageClass.RESERVED;
            case RESERVED_IDLE -> UsageClass.RESERVED_UNMET;
            case RESERVED_UNMET -> UsageClass.RESERVED_IDLE;
        };
    }

    private static Segment.Held otherStanding(Segment.Held held) {
        Standing other = held.standing() == Standing.WITHIN ? Standing.OVER_QUOTA : Standing.WITHIN;
        return new Segment.Held(held.allocation(), other, held.phase(), held.marks());
    }

    private static Segment.Held otherWorkload(Segment.Held held) {
        AllocationMarks allocationMarks = RandomHistory.marks(held.marks().policy(), "another");
        return new Segment.Held(held.allocation(), held.standing(), held.phase(), allocationMarks);
    }
}
