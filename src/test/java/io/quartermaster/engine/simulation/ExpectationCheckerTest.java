package io.quartermaster.engine.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ExpectationCheckerTest {
    private static final Allocation PLACE =
            new Allocation(new PoolId("p"), List.of(new Allocation.Worker(1, new Allocation.Place.Counted(1000))));
    private static final EvictionReceipt RECEIPT =
            new EvictionReceipt(EvictionReceipt.Right.PRIORITY, List.of(), List.of(), List.of());
    private static final WorkloadId A = new WorkloadId("a");
    private static final WorkloadId B = new WorkloadId("b");

    private static List<String> failures(Decision... decisions) {
        return ExpectationChecker.failures(new Plan(3_000, List.of(decisions), List.of(), OptionalLong.empty()));
    }

    private static Decision start(WorkloadId id) {
        return new Decision.Start(id, PLACE, Decision.Rule.NOMINATED);
    }

    private static Decision grow(WorkloadId id) {
        return new Decision.Grow(id, PLACE, Decision.Rule.OVER_QUOTA);
    }

    private static Decision preempt(WorkloadId id) {
        return new Decision.Evict(id, EvictionCause.PREEMPT, Optional.of(B), 9_000, RECEIPT);
    }

    private static Decision shrink(WorkloadId id) {
        return new Decision.Shrink(
                id, new TreeSet<>(List.of(2)), EvictionCause.RECLAIM, Optional.of(B), 9_000, RECEIPT);
    }

    @Test
    void aPlanThatStartsAndEvictsOneWorkloadFails() {
        assertThat(failures(start(A), preempt(A))).containsExactly("at 3s: one plan starts and evicts a");
        assertThat(failures(grow(A), preempt(A))).hasSize(1);
        assertThat(failures(start(A), shrink(A))).hasSize(1);
        assertThat(failures(grow(A), shrink(A))).hasSize(1);
        assertThat(failures(shrink(A), grow(A))).hasSize(1);
    }

    @Test
    void aPlanThatStartsOneWorkloadAndEvictsAnotherPasses() {
        assertThat(failures(start(A), grow(A), preempt(B))).isEmpty();
        assertThat(failures(preempt(A), new Decision.Nominate(A, PLACE), start(B)))
                .isEmpty();
    }
}
