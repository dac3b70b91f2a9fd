package io.quartermaster.dispatch.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.Records;
import io.quartermaster.dispatch.commit.UnmetReservations.Level;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.DesiredState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When a reservation counts as requested and not honoured, and how much of it. */
class UnmetReservationsTest {

    private static final TenantId ACME = new TenantId("acme");
    private static final TenantId UMBRELLA = new TenantId("umbrella");
    private static final UUID POOL = Records.POOL;
    private static final UUID OTHER = new UUID(2, 3);

    private final UnmetReservations unmet =
            new UnmetReservations(pool -> pool.value().equals("other") ? OTHER : POOL);

    @Test
    void itBeginsWhenWorkWithinTheReservationFindsNoRoomAndEndsWhenItStarts() {
        unmet.setReserved(ACME, Map.of(POOL, 4_000L), Map.of());
        WorkloadRecord work = waits(ACME, 1, 2_000, Reason.Code.NO_CAPACITY);
        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 2_000));
        assertThat(unmet.drainChanges()).isEmpty();

        unmet.setHolding(work, POOL, 2_000);
        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 0));
    }

    @Test
    void whatAFenceOfTheTenantsOwnKeepsFromItsRightIsNotOwedToIt() {
        WorkloadRecord work = waits(ACME, 1, 2_000, Reason.Code.NO_CAPACITY);
        Map<UUID, List<PoolId>> fence = Map.of(work.terms().policy(), List.of(new PoolId("pool")));
        unmet.setReserved(ACME, Map.of(POOL, 4_000L), fence);
        assertThat(unmet.drainChanges()).isEmpty();

        unmet.setReserved(ACME, Map.of(POOL, 4_000L), Map.of());
        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 2_000));
    }

    @Test
    void itEndsWhenTheWorkLeaves() {
        unmet.setReserved(ACME, Map.of(POOL, 4_000L), Map.of());
        waits(ACME, 1, 2_000, Reason.Code.FRAGMENTED);
        unmet.drainChanges();

        unmet.setWorkload(Records.workload(
                ACME, 1, "cancelled", DesiredState.CANCEL, 2_000, PreemptionAction.REQUEUE, Optional.empty()));
        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 0));
    }

    @Test
    void onlyWhatFitsIntoTheReservationBesideWhatIsUsedCounts() {
        unmet.setReserved(ACME, Map.of(POOL, 4_000L), Map.of());
        unmet.setHolding(Records.waiting(ACME, 1, 1_000), POOL, 1_000);
        waits(ACME, 2, 4_000, Reason.Code.NO_CAPACITY);
        waits(ACME, 3, 2_000, Reason.Code.NO_CAPACITY);
        waits(ACME, 4, 2_000, Reason.Code.BEHIND);
        waits(ACME, 5, 1_000, Reason.Code.BEHIND);
        waits(UMBRELLA, 6, 1_000, Reason.Code.NO_CAPACITY);

        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 3_000));
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"NODES_CLOSED", "HELD_FOR_OTHERS", "BEHIND", "NO_CAPACITY", "FRAGMENTED"})
    void whatTheTenantsOwnRulesKeepFromStartingAsksForNothing(Reason.Code code) {
        unmet.setReserved(ACME, Map.of(POOL, 4_000L), Map.of());
        waits(ACME, 1, 1_000, code);
        assertThat(unmet.drainChanges()).isEmpty();
    }

    @Test
    void aReasonThatBecomesAnotherEndsIt() {
        unmet.setReserved(ACME, Map.of(POOL, 4_000L), Map.of());
        waits(ACME, 1, 1_000, Reason.Code.NO_CAPACITY);
        unmet.drainChanges();

        unmet.applyReasons(List.of(wait(1, Reason.Code.NOMINATED)));
        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 0));
    }

    @Test
    void workThatMayUseSeveralPoolsCountsInTheFirstThatOwesItRoom() {
        unmet.setReserved(ACME, Map.of(POOL, 500L, OTHER, 4_000L), Map.of());
        unmet.setWorkload(Records.waiting(ACME, 1, 1_000));
        unmet.applyReasons(List.of(new WaitReasons(
                EngineFacts.id(new UUID(4, 1)),
                List.of(reason("pool", Reason.Code.NO_CAPACITY), reason("other", Reason.Code.NO_CAPACITY)))));

        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, OTHER, 1_000));
    }

    @Test
    void aCutReservationEndsItAndWhatWasToldBeforeIsNotToldAgain() {
        unmet.setPublished(new Level(ACME, POOL, 1_000));
        unmet.setReserved(ACME, Map.of(POOL, 1_000L), Map.of());
        waits(ACME, 1, 1_000, Reason.Code.NO_CAPACITY);
        assertThat(unmet.drainChanges()).isEmpty();

        unmet.setReserved(ACME, Map.of(), Map.of());
        assertThat(unmet.drainChanges()).containsExactly(new Level(ACME, POOL, 0));
    }

    private WorkloadRecord waits(TenantId tenant, long number, long gpuMilli, Reason.Code code) {
        WorkloadRecord work = Records.waiting(tenant, number, gpuMilli);
        unmet.setWorkload(work);
        unmet.applyReasons(List.of(wait(number, code)));
        return work;
    }

    private static WaitReasons wait(long number, Reason.Code code) {
        return new WaitReasons(EngineFacts.id(new UUID(4, number)), List.of(reason("pool", code)));
    }

    private static Reason reason(String pool, Reason.Code code) {
        return new Reason(
                code,
                new PoolId(pool),
                Optional.empty(),
                new Reason.Numbers(0, 0, OptionalLong.empty(), 0),
                "a sentence",
                "a remedy");
    }
}
