package io.quartermaster.dispatch.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.quarantine.Suspicion.Take;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Which row is blamed, and which is not. */
class SuspicionTest {

    private static final int BATCH = 8;
    private static final long BAD = 7;

    private final Suspicion suspicion = new Suspicion(BATCH);

    @Test
    void theRowThatFailsAloneAndAgainAfterACycleWithoutItIsToBlame() {
        OptionalLong blamed = OptionalLong.empty();
        for (int cycle = 0; cycle < 20 && blamed.isEmpty(); cycle++) {
            blamed = cycle(suspicion.take());
        }
        assertThat(blamed).hasValue(BAD);

        suspicion.wasSetAside();
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(1, false));
    }

    /** Rows {@link #BAD} and later wait; the database is well. */
    private OptionalLong cycle(Take take) {
        List<Long> ids =
                switch (take) {
                    case Take.Oldest(int limit, boolean leftovers) ->
                        LongStream.range(BAD, BAD + limit).boxed().toList();
                    case Take.Nothing() -> List.of();
                    case Take.Only(long id) -> List.of(id);
                };
        suspicion.took(ids, false);
        if (ids.contains(BAD)) {
            return suspicion.failed();
        }
        suspicion.succeeded();
        return OptionalLong.empty();
    }

    @Test
    void anOutageBlamesNobodyHoweverLongItIs() {
        for (int i = 0; i < 100; i++) {
            suspicion.take();
            assertThat(suspicion.failed()).isEmpty();
        }
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    @Test
    void aTurnThatTakesTooLongIsFollowedByOneWithHalfOfItAndBlamesNobody() {
        for (int limit : List.of(8, 4, 2, 1, 1)) {
            assertThat(suspicion.take()).isEqualTo(new Take.Oldest(limit, true));
            suspicion.took(LongStream.range(0, limit).boxed().toList(), true);
            suspicion.timedOut();
        }
        for (int limit : List.of(1, 2, 4, 8, 8)) {
            assertThat(suspicion.take()).isEqualTo(new Take.Oldest(limit, true));
            suspicion.took(LongStream.range(0, limit).boxed().toList(), true);
            suspicion.succeeded();
        }
    }

    @Test
    void anOutageThatEndsInTheCycleWithoutRowsBlamesNobody() {
        suspect();
        assertThat(suspicion.take()).isEqualTo(new Take.Nothing());
        suspicion.took(List.of(), false);
        suspicion.succeeded();

        assertThat(suspicion.take()).isEqualTo(new Take.Only(BAD));
        suspicion.took(List.of(BAD), false);
        suspicion.succeeded();

        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(2, false));
    }

    @Test
    void onlyTheSuspectIsConfirmedWhateverStandsAtTheHeadByThen() {
        suspect();
        suspicion.take();
        suspicion.took(List.of(), false);
        suspicion.succeeded();

        assertThat(suspicion.take()).isEqualTo(new Take.Only(BAD));
    }

    @Test
    void aConfirmationThatTheDatabaseBreaksOffIsNoConfirmation() {
        suspect();
        suspicion.take();
        suspicion.took(List.of(), false);
        suspicion.succeeded();
        suspicion.take();

        assertThat(suspicion.failed()).isEmpty();
        assertThat(suspicion.take()).isEqualTo(new Take.Nothing());
    }

    @Test
    void whenCyclesWithoutRowsFailTooNoRowIsToBlame() {
        suspect();
        suspicion.take();
        suspicion.took(List.of(), false);

        assertThat(suspicion.failed()).isEmpty();
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(1, false));
    }

    @Test
    void anotherRowAtTheHeadBeginsAnew() {
        alone(1);
        alone(1);
        alone(2);
        alone(2);
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(1, false));
    }

    @Test
    void leftoversThatFailAreLeftAloneUntilTheNextEpoch() {
        for (int i = 0; i < 3; i++) {
            assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, true));
            suspicion.took(List.of(), true);
            suspicion.failed();
        }
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, false));

        suspicion.lead();
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    @Test
    void aRowThatFailsAfterASlowTurnKeepsLeftoversOffOnlyWhileItIsSearchedFor() {
        suspicion.take();
        suspicion.took(LongStream.range(0, BATCH).boxed().toList(), true);
        suspicion.timedOut();

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
        suspicion.take();
        suspicion.took(LongStream.range(0, BATCH).boxed().toList(), true);
        suspicion.timedOut();

        int failures = 0;
        int cycles = 0;
        while (cycles < 40) {
            Take.Oldest take = (Take.Oldest) suspicion.take();
            suspicion.took(LongStream.range(0, take.limit()).boxed().toList(), take.leftovers());
            if (take.leftovers()) {
                failures++;
                assertThat(suspicion.failed()).isEmpty();
            } else {
                suspicion.succeeded();
            }
            cycles++;
        }

        assertThat(failures).isEqualTo(3);
        assertThat(suspicion.leavesLeftovers()).isTrue();
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, false));
    }

    @Test
    void leftoversThatWentWellMayFailAnew() {
        for (int i = 0; i < 4; i++) {
            assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, true));
            suspicion.took(List.of(), true);
            suspicion.failed();
            suspicion.take();
            suspicion.took(List.of(), true);
            suspicion.succeeded();
        }
    }

    @Test
    void leftoversAreTakenAgainWhenCyclesWithoutThemFailAsWell() {
        for (int i = 0; i < 3; i++) {
            suspicion.take();
            suspicion.took(List.of(), true);
            suspicion.failed();
        }
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, false));
        suspicion.took(List.of(), false);
        suspicion.failed();

        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    /** More rows wait than a cycle takes; the first of them makes each cycle fail that takes it. */
    private void setAsideTheRowAtTheHead() {
        OptionalLong blamed = OptionalLong.empty();
        for (int cycle = 0; cycle < 20 && blamed.isEmpty(); cycle++) {
            Take take = suspicion.take();
            boolean leftovers = take instanceof Take.Oldest(int limit, boolean allowed) && allowed;
            List<Long> ids =
                    switch (take) {
                        case Take.Oldest(int limit, boolean allowed) ->
                            LongStream.range(BAD, BAD + limit).boxed().toList();
                        case Take.Nothing() -> List.of();
                        case Take.Only(long id) -> List.of(id);
                    };
            suspicion.took(ids, leftovers);
            if (ids.isEmpty()) {
                suspicion.succeeded();
            } else {
                blamed = suspicion.failed();
            }
        }
        assertThat(blamed).hasValue(BAD);
        suspicion.wasSetAside();
    }

    private void assertLeftoversAreTakenWithTheFullBatch() {
        for (int limit = ((Take.Oldest) suspicion.take()).limit(); limit < BATCH; limit *= 2) {
            suspicion.took(LongStream.range(0, limit).boxed().toList(), false);
            suspicion.succeeded();
            suspicion.take();
        }
        assertThat(suspicion.leavesLeftovers()).isFalse();
        assertThat(suspicion.take()).isEqualTo(new Take.Oldest(BATCH, true));
    }

    private void suspect() {
        alone(BAD);
        alone(BAD);
        alone(BAD);
    }

    private void alone(long id) {
        suspicion.take();
        suspicion.took(List.of(id), false);
        suspicion.failed();
    }
}
