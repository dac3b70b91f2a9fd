package io.quartermaster.dispatch.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.quarantine.PoisonRowFinder.Take;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The choice of the row to blame. */
class PoisonRowFinderTest {

    private static final int BATCH = 8;
    private static final long BAD = 7;

    private final PoisonRowFinder poisonRowFinder = new PoisonRowFinder(BATCH);

    @Test
    void theRowThatFailsAloneAndAgainAfterACycleWithoutItIsToBlame() {
        OptionalLong blamed = OptionalLong.empty();
        for (int cycle = 0; cycle < 20 && blamed.isEmpty(); cycle++) {
            blamed = cycle(poisonRowFinder.take());
        }
        assertThat(blamed).hasValue(BAD);

        poisonRowFinder.wasSetAside();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(1, false));
    }

    /** Row {@link #BAD} and later rows wait; the database works. */
    private OptionalLong cycle(Take take) {
        List<Long> ids =
                switch (take) {
                    case Take.Oldest(int limit, boolean leftovers) ->
                        LongStream.range(BAD, BAD + limit).boxed().toList();
                    case Take.Nothing() -> List.of();
                    case Take.Only(long id) -> List.of(id);
                };
        poisonRowFinder.took(ids, false);
        if (ids.contains(BAD)) {
            return poisonRowFinder.failed();
        }
        poisonRowFinder.succeeded();
        return OptionalLong.empty();
    }

    @Test
    void anOutageBlamesNobodyHoweverLongItIs() {
        for (int i = 0; i < 100; i++) {
            poisonRowFinder.take();
            assertThat(poisonRowFinder.failed()).isEmpty();
        }
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    @Test
    void aTurnThatTakesTooLongIsFollowedByOneWithHalfOfItAndBlamesNobody() {
        for (int limit : List.of(8, 4, 2, 1, 1)) {
            assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(limit, true));
            poisonRowFinder.took(LongStream.range(0, limit).boxed().toList(), true);
            poisonRowFinder.timedOut();
        }
        for (int limit : List.of(1, 2, 4, 8, 8)) {
            assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(limit, true));
            poisonRowFinder.took(LongStream.range(0, limit).boxed().toList(), true);
            poisonRowFinder.succeeded();
        }
    }

    @Test
    void anOutageThatEndsInTheCycleWithoutRowsBlamesNobody() {
        suspect();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Nothing());
        poisonRowFinder.took(List.of(), false);
        poisonRowFinder.succeeded();

        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Only(BAD));
        poisonRowFinder.took(List.of(BAD), false);
        poisonRowFinder.succeeded();

        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(2, false));
    }

    @Test
    void onlyTheSuspectIsConfirmedWhateverStandsAtTheHeadByThen() {
        suspect();
        poisonRowFinder.take();
        poisonRowFinder.took(List.of(), false);
        poisonRowFinder.succeeded();

        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Only(BAD));
    }

    @Test
    void aConfirmationThatTheDatabaseBreaksOffIsNoConfirmation() {
        suspect();
        poisonRowFinder.take();
        poisonRowFinder.took(List.of(), false);
        poisonRowFinder.succeeded();
        poisonRowFinder.take();

        assertThat(poisonRowFinder.failed()).isEmpty();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Nothing());
    }

    @Test
    void whenCyclesWithoutRowsFailTooNoRowIsToBlame() {
        suspect();
        poisonRowFinder.take();
        poisonRowFinder.took(List.of(), false);

        assertThat(poisonRowFinder.failed()).isEmpty();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(1, false));
    }

    @Test
    void anotherRowAtTheHeadBeginsAnew() {
        alone(1);
        alone(1);
        alone(2);
        alone(2);
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(1, false));
    }

    @Test
    void leftoversThatFailAreLeftAloneUntilTheNextEpoch() {
        for (int i = 0; i < 3; i++) {
            assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, true));
            poisonRowFinder.took(List.of(), true);
            poisonRowFinder.failed();
        }
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, false));

        poisonRowFinder.lead();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    @Test
    void aRowThatFailsAfterASlowTurnKeepsLeftoversOffOnlyWhileItIsSearchedFor() {
        poisonRowFinder.take();
        poisonRowFinder.took(LongStream.range(0, BATCH).boxed().toList(), true);
        poisonRowFinder.timedOut();

        setAsideTheRowAtTheHead();

        assertLeftoversAreTakenWithTheFullBatch();
    }

    @Test
    void rowsThatAreSetAsideOneAfterTheOtherKeepLeftoversOffOnlyWhileTheyAreSearchedFor() {
        for (int row = 0; row < 4; row++) {
            setAsideTheRowAtTheHead();
            assertLeftoversAreTakenWithTheFullBatch();
        }
    }

    @Test
    void leftoversThatFailAfterSlowTurnsAreLeftAloneThoughManyRowsWait() {
        poisonRowFinder.take();
        poisonRowFinder.took(LongStream.range(0, BATCH).boxed().toList(), true);
        poisonRowFinder.timedOut();

        int failures = 0;
        int cycles = 0;
        while (cycles < 40) {
            Take.Oldest take = (Take.Oldest) poisonRowFinder.take();
            poisonRowFinder.took(LongStream.range(0, take.limit()).boxed().toList(), take.leftovers());
            if (take.leftovers()) {
                failures++;
                assertThat(poisonRowFinder.failed()).isEmpty();
            } else {
                poisonRowFinder.succeeded();
            }
            cycles++;
        }

        assertThat(failures).isEqualTo(3);
        assertThat(poisonRowFinder.leavesLeftovers()).isTrue();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, false));
    }

    @Test
    void leftoversThatWentWellMayFailAnew() {
        for (int i = 0; i < 4; i++) {
            assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, true));
            poisonRowFinder.took(List.of(), true);
            poisonRowFinder.failed();
            poisonRowFinder.take();
            poisonRowFinder.took(List.of(), true);
            poisonRowFinder.succeeded();
        }
    }

    @Test
    void leftoversAreTakenAgainWhenCyclesWithoutThemFailAsWell() {
        for (int i = 0; i < 3; i++) {
            poisonRowFinder.take();
            poisonRowFinder.took(List.of(), true);
            poisonRowFinder.failed();
        }
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, false));
        poisonRowFinder.took(List.of(), false);
        poisonRowFinder.failed();

        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    /** More rows wait than a cycle takes; the first of them makes each cycle fail that takes it. */
    private void setAsideTheRowAtTheHead() {
        OptionalLong blamed = OptionalLong.empty();
        for (int cycle = 0; cycle < 20 && blamed.isEmpty(); cycle++) {
            Take take = poisonRowFinder.take();
            boolean leftovers = take instanceof Take.Oldest(int limit, boolean allowed) && allowed;
            List<Long> ids =
                    switch (take) {
                        case Take.Oldest(int limit, boolean allowed) ->
                            LongStream.range(BAD, BAD + limit).boxed().toList();
                        case Take.Nothing() -> List.of();
                        case Take.Only(long id) -> List.of(id);
                    };
            poisonRowFinder.took(ids, leftovers);
            if (ids.isEmpty()) {
                poisonRowFinder.succeeded();
            } else {
                blamed = poisonRowFinder.failed();
            }
        }
        assertThat(blamed).hasValue(BAD);
        poisonRowFinder.wasSetAside();
    }

    private void assertLeftoversAreTakenWithTheFullBatch() {
        for (int limit = ((Take.Oldest) poisonRowFinder.take()).limit(); limit < BATCH; limit *= 2) {
            poisonRowFinder.took(LongStream.range(0, limit).boxed().toList(), false);
            poisonRowFinder.succeeded();
            poisonRowFinder.take();
        }
        assertThat(poisonRowFinder.leavesLeftovers()).isFalse();
        assertThat(poisonRowFinder.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    private void suspect() {
        alone(BAD);
        alone(BAD);
        alone(BAD);
    }

    private void alone(long id) {
        poisonRowFinder.take();
        poisonRowFinder.took(List.of(id), false);
        poisonRowFinder.failed();
    }
}
