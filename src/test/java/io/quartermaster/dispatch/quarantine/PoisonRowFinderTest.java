package io.quartermaster.dispatch.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.quarantine.PoisonRowFinder.Selection;
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
            blamed = cycle(poisonRowFinder.beginCycle());
        }
        assertThat(blamed).hasValue(BAD);

        poisonRowFinder.recordQuarantined();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(1, false));
    }

    /** Row {@link #BAD} and later rows wait; the database works. */
    private OptionalLong cycle(Selection selection) {
        List<Long> ids =
                switch (selection) {
                    case Selection.Oldest(int limit, boolean leftovers) ->
                        LongStream.range(BAD, BAD + limit).boxed().toList();
                    case Selection.None() -> List.of();
                    case Selection.Only(long id) -> List.of(id);
                };
        poisonRowFinder.recordRead(ids, false);
        if (ids.contains(BAD)) {
            return poisonRowFinder.recordFailure();
        }
        poisonRowFinder.recordSuccess();
        return OptionalLong.empty();
    }

    @Test
    void anOutageBlamesNobodyHoweverLongItIs() {
        for (int i = 0; i < 100; i++) {
            poisonRowFinder.beginCycle();
            assertThat(poisonRowFinder.recordFailure()).isEmpty();
        }
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, true));
    }

    @Test
    void aTurnThatTakesTooLongIsFollowedByOneWithHalfOfItAndBlamesNobody() {
        for (int limit : List.of(8, 4, 2, 1, 1)) {
            assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(limit, true));
            poisonRowFinder.recordRead(LongStream.range(0, limit).boxed().toList(), true);
            poisonRowFinder.recordTimeout();
        }
        for (int limit : List.of(1, 2, 4, 8, 8)) {
            assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(limit, true));
            poisonRowFinder.recordRead(LongStream.range(0, limit).boxed().toList(), true);
            poisonRowFinder.recordSuccess();
        }
    }

    @Test
    void anOutageThatEndsInTheCycleWithoutRowsBlamesNobody() {
        suspect();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.None());
        poisonRowFinder.recordRead(List.of(), false);
        poisonRowFinder.recordSuccess();

        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Only(BAD));
        poisonRowFinder.recordRead(List.of(BAD), false);
        poisonRowFinder.recordSuccess();

        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(2, false));
    }

    @Test
    void onlyTheSuspectIsConfirmedWhateverStandsAtTheHeadByThen() {
        suspect();
        poisonRowFinder.beginCycle();
        poisonRowFinder.recordRead(List.of(), false);
        poisonRowFinder.recordSuccess();

        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Only(BAD));
    }

    @Test
    void aConfirmationThatTheDatabaseBreaksOffIsNoConfirmation() {
        suspect();
        poisonRowFinder.beginCycle();
        poisonRowFinder.recordRead(List.of(), false);
        poisonRowFinder.recordSuccess();
        poisonRowFinder.beginCycle();

        assertThat(poisonRowFinder.recordFailure()).isEmpty();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.None());
    }

    @Test
    void whenCyclesWithoutRowsFailTooNoRowIsToBlame() {
        suspect();
        poisonRowFinder.beginCycle();
        poisonRowFinder.recordRead(List.of(), false);

        assertThat(poisonRowFinder.recordFailure()).isEmpty();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(1, false));
    }

    @Test
    void anotherRowAtTheHeadBeginsAnew() {
        alone(1);
        alone(1);
        alone(2);
        alone(2);
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(1, false));
    }

    @Test
    void leftoversThatFailAreLeftAloneUntilTheNextEpoch() {
        for (int i = 0; i < 3; i++) {
            assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, true));
            poisonRowFinder.recordRead(List.of(), true);
            poisonRowFinder.recordFailure();
        }
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, false));

        poisonRowFinder.beginTerm();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, true));
    }

    @Test
    void aRowThatFailsAfterASlowTurnKeepsLeftoversOffOnlyWhileItIsSearchedFor() {
        poisonRowFinder.beginCycle();
        poisonRowFinder.recordRead(LongStream.range(0, BATCH).boxed().toList(), true);
        poisonRowFinder.recordTimeout();

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
        poisonRowFinder.beginCycle();
        poisonRowFinder.recordRead(LongStream.range(0, BATCH).boxed().toList(), true);
        poisonRowFinder.recordTimeout();

        int failures = 0;
        int cycles = 0;
        while (cycles < 40) {
            Selection.Oldest take = (Selection.Oldest) poisonRowFinder.beginCycle();
            poisonRowFinder.recordRead(LongStream.range(0, take.limit()).boxed().toList(), take.pendingSteps());
            if (take.pendingSteps()) {
                failures++;
                assertThat(poisonRowFinder.recordFailure()).isEmpty();
            } else {
                poisonRowFinder.recordSuccess();
            }
            cycles++;
        }

        assertThat(failures).isEqualTo(3);
        assertThat(poisonRowFinder.skipsPendingSteps()).isTrue();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, false));
    }

    @Test
    void leftoversThatWentWellMayFailAnew() {
        for (int i = 0; i < 4; i++) {
            assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, true));
            poisonRowFinder.recordRead(List.of(), true);
            poisonRowFinder.recordFailure();
            poisonRowFinder.beginCycle();
            poisonRowFinder.recordRead(List.of(), true);
            poisonRowFinder.recordSuccess();
        }
    }

    @Test
    void leftoversAreTakenAgainWhenCyclesWithoutThemFailAsWell() {
        for (int i = 0; i < 3; i++) {
            poisonRowFinder.beginCycle();
            poisonRowFinder.recordRead(List.of(), true);
            poisonRowFinder.recordFailure();
        }
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, false));
        poisonRowFinder.recordRead(List.of(), false);
        poisonRowFinder.recordFailure();

        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, true));
    }

    /** More rows wait than a cycle takes; the first of them makes each cycle fail that takes it. */
    private void setAsideTheRowAtTheHead() {
        OptionalLong blamed = OptionalLong.empty();
        for (int cycle = 0; cycle < 20 && blamed.isEmpty(); cycle++) {
            Selection selection = poisonRowFinder.beginCycle();
            boolean leftovers = selection instanceof Selection.Oldest(int limit, boolean allowed) && allowed;
            List<Long> ids =
                    switch (selection) {
                        case Selection.Oldest(int limit, boolean allowed) ->
                            LongStream.range(BAD, BAD + limit).boxed().toList();
                        case Selection.None() -> List.of();
                        case Selection.Only(long id) -> List.of(id);
                    };
            poisonRowFinder.recordRead(ids, leftovers);
            if (ids.isEmpty()) {
                poisonRowFinder.recordSuccess();
            } else {
                blamed = poisonRowFinder.recordFailure();
            }
        }
        assertThat(blamed).hasValue(BAD);
        poisonRowFinder.recordQuarantined();
    }

    private void assertLeftoversAreTakenWithTheFullBatch() {
        for (int limit = ((Selection.Oldest) poisonRowFinder.beginCycle()).limit(); limit < BATCH; limit *= 2) {
            poisonRowFinder.recordRead(LongStream.range(0, limit).boxed().toList(), false);
            poisonRowFinder.recordSuccess();
            poisonRowFinder.beginCycle();
        }
        assertThat(poisonRowFinder.skipsPendingSteps()).isFalse();
        assertThat(poisonRowFinder.beginCycle()).isEqualTo(new Selection.Oldest(BATCH, true));
    }

    private void suspect() {
        alone(BAD);
        alone(BAD);
        alone(BAD);
    }

    private void alone(long id) {
        poisonRowFinder.beginCycle();
        poisonRowFinder.recordRead(List.of(id), false);
        poisonRowFinder.recordFailure();
    }
}
