package io.quartermaster.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.datatype.jdk8.Jdk8Module;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The rules of the ledger, one example each, with hours of real length. */
class BookTest {
    private static final TenantKey ACME = new TenantKey("acme");
    private static final PoolKey POOL = new PoolKey("h100");
    private static final PolicyId NLP = new PolicyId("nlp");
    private static final PolicyId VISION = new PolicyId("vision");
    private static final long HOUR = BookState.HOUR_MILLIS;

    private final Book book = Book.empty(ACME);
    private long seq;

    @Test
    void theJobThatDoesNotFitTheReservationIsSplit() {
        reserve(0, 12_000);
        allocate(0, "a", 8_000, NLP);
        allocate(0, "b", 8_000, NLP);

        assertThat(lines(book.close(HOUR)))
                .containsExactly(
                        "RESERVED/OVER_QUOTA a 8000 STARTING 0-3600000",
                        "RESERVED/OVER_QUOTA b 4000 STARTING 0-3600000",
                        "ON_DEMAND/OVER_QUOTA b 4000 STARTING 0-3600000");
    }

    @Test
    void whoStartedFirstFillsFirstAndTheIdDecidesBetweenEquals() {
        reserve(0, 1_000);
        allocate(5, "b", 1_000, NLP);
        allocate(5, "a", 1_000, NLP);
        allocate(6, "0", 1_000, NLP);

        assertThat(lines(book.provisionalSegments(7)))
                .containsExactly(
                        "RESERVED_IDLE 1000 0-5",
                        "RESERVED/OVER_QUOTA a 1000 STARTING 5-7",
                        "ON_DEMAND/OVER_QUOTA b 1000 STARTING 5-7",
                        "ON_DEMAND/OVER_QUOTA 0 1000 STARTING 6-7");
    }

    @Test
    void whatAFreedAllocationFilledGoesToTheNext() {
        reserve(0, 2_000);
        allocate(0, "a", 2_000, NLP);
        allocate(0, "b", 1_000, NLP);
        free(10, "a");

        assertThat(lines(book.provisionalSegments(20)))
                .containsExactly(
                        "RESERVED/OVER_QUOTA a 2000 STARTING 0-10",
                        "ON_DEMAND/OVER_QUOTA b 1000 STARTING 0-10",
                        "RESERVED/OVER_QUOTA b 1000 STARTING 10-20",
                        "RESERVED_IDLE 1000 10-20");
    }

    @Test
    void classAndStandingDivideTheSameAllocationIndependently() {
        reserve(0, 3_000);
        reserveFor(NLP, 0, 5_000);
        allocate(0, "a", 8_000, NLP);

        assertThat(lines(book.provisionalSegments(1)))
                .containsExactly(
                        "RESERVED/WITHIN a 3000 STARTING 0-1",
                        "ON_DEMAND/WITHIN a 2000 STARTING 0-1",
                        "ON_DEMAND/OVER_QUOTA a 3000 STARTING 0-1");
    }

    @Test
    void eachPolicyHasItsOwnFill() {
        reserveFor(NLP, 0, 1_000);
        reserveFor(VISION, 0, 2_000);
        allocate(0, "a", 2_000, NLP);
        allocate(0, "b", 2_000, VISION);

        assertThat(lines(book.provisionalSegments(1)))
                .containsExactly(
                        "ON_DEMAND/WITHIN a 1000 STARTING 0-1",
                        "ON_DEMAND/WITHIN b 2000 STARTING 0-1",
                        "ON_DEMAND/OVER_QUOTA a 1000 STARTING 0-1");
    }

    @Test
    void aReservationChangedMidwayCutsOnlyWhatItChanges() {
        reserve(0, 4_000);
        allocate(0, "a", 2_000, NLP);
        allocate(0, "b", 2_000, NLP);
        reserve(50, 3_000);

        assertThat(lines(book.provisionalSegments(100)))
                .containsExactly(
                        "RESERVED/OVER_QUOTA a 2000 STARTING 0-100",
                        "RESERVED/OVER_QUOTA b 2000 STARTING 0-50",
                        "RESERVED/OVER_QUOTA b 1000 STARTING 50-100",
                        "ON_DEMAND/OVER_QUOTA b 1000 STARTING 50-100");
    }

    @Test
    void whatChangesBackAtTheSameStampLeavesNoTrace() {
        reserve(0, 1_000);
        allocate(0, "a", 1_000, NLP);
        reserve(50, 0);
        allocate(50, "b", 1_000, NLP);
        free(50, "b");
        reserve(50, 1_000);

        assertThat(lines(book.provisionalSegments(100))).containsExactly("RESERVED/OVER_QUOTA a 1000 STARTING 0-100");
    }

    @Test
    void aLifeOfOneMillisecondIsMetered() {
        allocate(10, "a", 250, NLP);
        free(11, "a");

        assertThat(lines(book.close(HOUR))).containsExactly("ON_DEMAND/OVER_QUOTA a 250 STARTING 10-11");
    }

    @Test
    void whatRunsIsCutAtEveryHourAndGoesOn() {
        allocate(HOUR - 5, "a", 1_000, NLP);

        assertThat(lines(book.close(HOUR))).containsExactly("ON_DEMAND/OVER_QUOTA a 1000 STARTING 3599995-3600000");
        assertThat(lines(book.close(3 * HOUR)))
                .containsExactly(
                        "ON_DEMAND/OVER_QUOTA a 1000 STARTING 3600000-7200000",
                        "ON_DEMAND/OVER_QUOTA a 1000 STARTING 7200000-10800000");
    }

    @Test
    void outOfContactBeginsAtTheLastWordEvenInTheHourBefore() {
        allocate(0, "a", 1_000, NLP);
        phase(10, "a", Phase.RUNNING, 10);
        phase(HOUR + 60_000, "a", Phase.OUT_OF_CONTACT, HOUR - 30_000);
        free(HOUR + 60_000, "a");

        assertThat(lines(book.close(HOUR)))
                .containsExactly(
                        "ON_DEMAND/OVER_QUOTA a 1000 STARTING 0-10",
                        "ON_DEMAND/OVER_QUOTA a 1000 RUNNING 10-3570000",
                        "ON_DEMAND/OVER_QUOTA a 1000 OUT_OF_CONTACT 3570000-3600000");
        assertThat(lines(book.close(2 * HOUR)))
                .containsExactly("ON_DEMAND/OVER_QUOTA a 1000 OUT_OF_CONTACT 3600000-3660000");
    }

    @Test
    void outOfContactReplacesWhatWasKnownSinceAndReachesTheStartAtMost() {
        allocate(20, "a", 1_000, NLP);
        phase(30, "a", Phase.STOPPING, 30);
        phase(40, "a", Phase.OUT_OF_CONTACT, 5);
        phase(50, "a", Phase.RUNNING, 50);

        assertThat(lines(book.provisionalSegments(60)))
                .containsExactly(
                        "ON_DEMAND/OVER_QUOTA a 1000 OUT_OF_CONTACT 20-50",
                        "ON_DEMAND/OVER_QUOTA a 1000 RUNNING 50-60");
    }

    @Test
    void workThatEndedLongBeforeItsDevicesAreFreedIsEndedMeanwhile() {
        allocate(0, "a", 1_000, NLP);
        phase(300, "a", Phase.RUNNING, 300);
        phase(HOUR + 9_000, "a", Phase.ENDED, 1_000);
        free(HOUR + 9_000, "a");

        assertThat(lines(book.close(HOUR)))
                .containsExactly(
                        "ON_DEMAND/OVER_QUOTA a 1000 STARTING 0-300",
                        "ON_DEMAND/OVER_QUOTA a 1000 RUNNING 300-1000",
                        "ON_DEMAND/OVER_QUOTA a 1000 ENDED 1000-3600000");
        assertThat(lines(book.close(2 * HOUR))).containsExactly("ON_DEMAND/OVER_QUOTA a 1000 ENDED 3600000-3609000");
    }

    @Test
    void workThatEndedBeforeItWasToldToStopNeverStopped() {
        allocate(20, "a", 1_000, NLP);
        phase(30, "a", Phase.RUNNING, 30);
        phase(60, "a", Phase.STOPPING, 60);
        phase(90, "a", Phase.ENDED, 50);

        assertThat(lines(book.provisionalSegments(100)))
                .containsExactly(
                        "ON_DEMAND/OVER_QUOTA a 1000 STARTING 20-30",
                        "ON_DEMAND/OVER_QUOTA a 1000 RUNNING 30-50",
                        "ON_DEMAND/OVER_QUOTA a 1000 ENDED 50-100");
    }

    @Test
    void aLastWordInAClosedHourIsRefused() {
        allocate(0, "a", 1_000, NLP);
        book.close(HOUR);
        BookState before = book.state();

        PostingResult postingResult = book.apply(new UsageEvent.PhaseChanged(
                HOUR + 5, ++seq, ACME, new AllocationId("a"), Phase.OUT_OF_CONTACT, HOUR - 1));

        assertThat(postingResult).isInstanceOf(PostingResult.HourClosed.class);
        assertThat(book.state()).isEqualTo(before);
    }

    @Test
    void anEventInAClosedHourIsRefused() {
        book.close(HOUR);

        assertThat(book.apply(new UsageEvent.TenantReserved(HOUR - 1, 1, ACME, POOL, 1)))
                .isInstanceOf(PostingResult.HourClosed.class);
    }

    @Test
    void anHourIsClosedOnceAndAtItsEnd() {
        book.close(HOUR);

        assertThatThrownBy(() -> book.close(HOUR)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> book.close(HOUR + 1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void timeThatRunsBackwardsIsRefused() {
        reserve(10, 1);

        assertThat(book.apply(new UsageEvent.TenantReserved(9, 99, ACME, POOL, 2)))
                .isEqualTo(new PostingResult.NotLater(new UsageEvent.TenantReserved(9, 99, ACME, POOL, 2), 10, 1));
    }

    @Test
    void allocationsThatCannotBeAreRefusedAndChangeNothing() {
        allocate(0, "a", 1_000, NLP);
        allocate(0, "gone", 1_000, NLP);
        free(1, "gone");
        BookState before = book.state();
        AllocationMarks allocationMarks = RandomHistory.marks(NLP, "job");

        assertThat(book.apply(
                        new UsageEvent.Allocated(2, 50, ACME, new AllocationId("a"), POOL, 1_000, allocationMarks)))
                .isInstanceOf(PostingResult.DuplicateAllocation.class);
        assertThat(book.apply(new UsageEvent.Freed(2, 51, ACME, new AllocationId("gone"))))
                .isInstanceOf(PostingResult.UnknownAllocation.class);
        assertThat(book.apply(new UsageEvent.PhaseChanged(2, 52, ACME, new AllocationId("never"), Phase.RUNNING)))
                .isInstanceOf(PostingResult.UnknownAllocation.class);
        assertThat(book.state()).isEqualTo(before);
    }

    @Test
    void anotherTenantsEventIsRefused() {
        assertThat(book.apply(new UsageEvent.TenantReserved(1, 1, new TenantKey("globex"), POOL, 1)))
                .isInstanceOf(PostingResult.OtherTenant.class);
    }

    @Test
    void onlyWhatAnExecutorSaysLateMayBeBackDated() {
        for (Phase phase : List.of(Phase.STARTING, Phase.RUNNING, Phase.STOPPING)) {
            assertThatThrownBy(() -> phase(10, "a", phase, 9))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("ENDED and OUT_OF_CONTACT");
        }
    }

    @Test
    void aReservationNotHonouredIsMeteredBeside() {
        reserve(0, 1_000);
        apply(new UsageEvent.Unmet(10, ++seq, ACME, POOL, 400));
        apply(new UsageEvent.Unmet(20, ++seq, ACME, POOL, 0));

        assertThat(lines(book.provisionalSegments(30)))
                .containsExactly("RESERVED_IDLE 1000 0-30", "RESERVED_UNMET 400 10-20");
    }

    @Test
    void aQuietTenantLeavesNothingBehindWhenTheHourCloses() {
        reserve(0, 1_000);
        reserveFor(NLP, 0, 1_000);
        allocate(0, "a", 1_000, NLP);
        free(10, "a");
        reserve(20, 0);
        reserveFor(NLP, 20, 0);
        book.close(HOUR);

        assertThat(book.state().pools()).isEmpty();
    }

    @Test
    void aStateIsTheSameAfterItWasWrittenAndRead() throws JsonProcessingException {
        ObjectMapper json = new ObjectMapper().registerModule(new Jdk8Module());
        reserve(0, 1_500);
        reserveFor(NLP, 0, 700);
        allocate(0, "a", 1_000, NLP);
        allocate(5, "b", 1_000, VISION);
        phase(7, "a", Phase.RUNNING, 7);
        free(9, "b");
        BookState state = book.state();

        BookState read = json.readValue(json.writeValueAsString(state), BookState.class);

        assertThat(read).isEqualTo(state);
        assertThat(Book.resume(read).close(HOUR)).isEqualTo(book.close(HOUR));
    }

    @Test
    void aStateThatWasChangedIsRefused() {
        reserve(0, 1_500);
        allocate(0, "a", 1_000, NLP);
        BookState state = book.state();
        BookState.PoolState pool = state.pools().get(0);

        BookState more = withPool(
                state,
                new BookState.PoolState(
                        POOL,
                        List.of(new BookState.Level(0, 900)),
                        pool.idle(),
                        pool.unmet(),
                        pool.policies(),
                        pool.allocations()));

        assertThatThrownBy(() -> Book.resume(more))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("contradicts itself");
        assertThatThrownBy(() -> new BookState(2, ACME, HOUR, 0, 0, -1, List.of()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static BookState withPool(BookState state, BookState.PoolState pool) {
        return new BookState(
                state.format(),
                state.tenant(),
                state.hourMillis(),
                state.closedUntilMillis(),
                state.atMillis(),
                state.seq(),
                List.of(pool));
    }

    private void reserve(long at, long gpuMilli) {
        apply(new UsageEvent.TenantReserved(at, ++seq, ACME, POOL, gpuMilli));
    }

    private void reserveFor(PolicyId policy, long at, long gpuMilli) {
        apply(new UsageEvent.PolicyReserved(at, ++seq, ACME, policy, POOL, gpuMilli));
    }

    private void allocate(long at, String id, long gpuMilli, PolicyId policy) {
        AllocationMarks allocationMarks = RandomHistory.marks(policy, "job-" + id);
        apply(new UsageEvent.Allocated(at, ++seq, ACME, new AllocationId(id), POOL, gpuMilli, allocationMarks));
    }

    private void phase(long at, String id, Phase phase, long since) {
        apply(new UsageEvent.PhaseChanged(at, ++seq, ACME, new AllocationId(id), phase, since));
    }

    private void free(long at, String id) {
        apply(new UsageEvent.Freed(at, ++seq, ACME, new AllocationId(id)));
    }

    private void apply(UsageEvent event) {
        assertThat(book.apply(event)).isInstanceOf(PostingResult.Posted.class);
    }

    private static List<String> lines(List<Segment> segments) {
        List<String> lines = new ArrayList<>();
        for (Segment s : segments) {
            String held =
                    s.held().map(h -> "/" + h.standing() + " " + h.allocation()).orElse("");
            String phase = s.held().map(h -> " " + h.phase()).orElse("");
            lines.add(s.usageClass() + held + " " + s.gpuMilli() + phase + " " + s.fromMillis() + "-" + s.toMillis());
        }
        return lines;
    }
}
