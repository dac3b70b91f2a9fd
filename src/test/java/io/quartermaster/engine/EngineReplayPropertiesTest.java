package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.OrderReceipt;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.testing.RandomCases;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Plans depend only on the declared state, over random cells and histories. A failure names its seed.
 */
@Tag("properties")
class EngineReplayPropertiesTest {

    @Test
    void anEngineBuiltFromTheTablesDecidesAndExplainsTheSame() {
        RandomCells.forEach(90, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                for (int i = 0; i < 3; i++) {
                    Engine rebuilt = cell.rebuilt(seed + i);
                    List<Decision> expected = rebuilt.plan(cell.nowMillis).decisions();
                    List<WaitReasons> expectedWaits = rebuilt.waits();
                    Plan plan = cell.engine.plan(cell.nowMillis);
                    if (!expected.isEmpty() || !expectedWaits.isEmpty()) {
                        judged.check();
                    }
                    assertThat(plan.decisions()).isEqualTo(expected);
                    assertThat(cell.engine.waits()).isEqualTo(expectedWaits);
                    cell.carryOut(plan);
                    cell.leaveAllDue();
                }
                assertThat(cell.rebuilt(seed).waits()).isEmpty();
            }
        });
    }

    @Test
    void aRestoredSnapshotGivesTheSamePlan() {
        RandomCells.forEach(80, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                Engine restored = Engine.restore(cell.engine.snapshot());
                Plan plan = cell.plan();
                if (!plan.decisions().isEmpty()) {
                    judged.check();
                }
                assertThat(plan).isEqualTo(restored.plan(cell.nowMillis));
            }
        });
    }

    @Test
    void whatIsRememberedDecidesAndExplainsAsIfAllWereWorkedOutAnew() {
        RandomCells.forEach(80, (seed, judged) -> {
            if (seed % 2 == 0) {
                assertMemoryMakesNoDifference(
                        RandomCell.ofThoseWhoLeaveOthersAlone(seed),
                        RandomCell.ofThoseWhoLeaveOthersAlone(seed),
                        judged);
            } else {
                assertMemoryMakesNoDifference(new RandomCell(seed), new RandomCell(seed), judged);
            }
        });
    }

    /** @param forgetful an equal cell, whose engine works without caches */
    private static void assertMemoryMakesNoDifference(
            RandomCell cell, RandomCell forgetful, RandomCases.Judged judged) {
        forgetful.engine.disableIncremental();
        for (int event = 0; event < RandomCells.EVENTS; event++) {
            cell.happen();
            forgetful.happen();
            for (int i = 0; i < 3; i++) {
                Plan plan = cell.plan();
                if (!plan.decisions().isEmpty()) {
                    judged.check();
                }
                assertThat(plan).isEqualTo(forgetful.plan());
                assertThat(cell.engine.waits()).isEqualTo(forgetful.engine.waits());
                cell.leaveAllDue();
                forgetful.leaveAllDue();
            }
        }
    }

    @Test
    void everyDecisionHasAReceiptWhoseNumbersBearItOut() {
        RandomCells.forEach(80, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                List<DecisionReceipt> receipts = ReceiptDerivation.of(cell.engine.snapshot(), cell.nowMillis);
                assertThat(receipts)
                        .extracting(DecisionReceipt::decision)
                        .isEqualTo(cell.plan().decisions());
                receipts.forEach(receipt -> {
                    judged.check();
                    assertThat(receipt.turn().isPresent()).as("%s", receipt).isEqualTo(hasATurn(receipt));
                    receipt.turn().stream()
                            .flatMap(orderReceipt -> orderReceipt.won().stream())
                            .forEach(won ->
                                    assertThat(isBorneOut(won)).as("%s", won).isTrue());
                });
            }
        });
    }

    private static boolean hasATurn(DecisionReceipt receipt) {
        return switch (receipt.decision()) {
            case Decision.Start start -> start.rule() != Decision.Rule.NOMINATED;
            case Decision.Grow grow -> grow.rule() != Decision.Rule.NOMINATED;
            case Decision.Nominate nominate ->
                receipt.stops().stream().noneMatch(stop -> stop.workload().equals(nominate.workload()));
            case Decision.Evict evict -> false;
            case Decision.Shrink shrink -> false;
            case Decision.WithdrawNomination withdrawNomination -> false;
        };
    }

    /** A second implementation of the order of candidates, which uses only the numbers of the receipt. */
    private static boolean isBorneOut(OrderReceipt.Comparison won) {
        OrderReceipt.Side own = won.own();
        OrderReceipt.Side other = won.other();
        return switch (won.by()) {
            case RANK -> own.rank() < other.rank();
            case SHARE_WITH_REQUEST ->
                own.rank() == other.rank()
                        && isLess(
                                own.usedGpuMilli() + own.requestedGpuMilli(),
                                own.shareGpuMilli(),
                                other.usedGpuMilli() + other.requestedGpuMilli(),
                                other.shareGpuMilli());
            case SHARE ->
                own.rank() == other.rank()
                        && isLess(own.usedGpuMilli(), own.shareGpuMilli(), other.usedGpuMilli(), other.shareGpuMilli());
            case PAST_USE, AT_HEAD, SUBMITTED -> own.rank() == other.rank();
            case PRIORITY, WHOLE, PLACE -> own.path().equals(other.path());
        };
    }

    private static boolean isLess(long used, long share, long usedByOther, long shareOfOther) {
        return share != 0 && (shareOfOther == 0 || used * shareOfOther < usedByOther * share);
    }
}
