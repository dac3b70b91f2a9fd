package io.quartermaster.engine.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.testing.RandomCases;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The engine decides and explains as the unpruned reference planner does, over random cells and histories. A run prints
 * in how many cells each kind of decision and reason occurred. {@code -Dqm.cases=10000} tries 20,000 cells.
 */
@Tag("properties")
class ReferencePlannerPropertiesTest {
    private static final int CELLS = 200;
    private static final int EVENTS = 10;
    private static final int PLANS_PER_EVENT = 3;

    @Test
    void theEngineDecidesAndExplainsAsTheReferencePlannerDoes() {
        SortedMap<String, Integer> cellsWith = new TreeMap<>();
        RandomCases.forEach(CELLS, 90, (seed, judged) -> {
            SortedSet<String> seen = new TreeSet<>();
            compare(new ReferenceCell(seed, EnumSet.allOf(ReferenceCell.Feature.class)), seen, judged);
            seen.forEach(what -> cellsWith.merge(what, 1, Integer::sum));
        });
        System.out.println("cells in which it happened: " + cellsWith);
        if (RandomCases.areEnough()) {
            assertThat(cellsWith.keySet())
                    .contains("grow", "move", "nominate", "start NOMINATED", "stop to PREEMPT", "stop to RECLAIM");
        }
    }

    static void compare(ReferenceCell cell, SortedSet<String> seen, RandomCases.Judged judged) {
        Engine engine = new Engine(cell.settings);
        ReferencePlanner reference = new ReferencePlanner(cell.settings);
        for (int event = 0; event < EVENTS; event++) {
            cell.happen();
            for (int i = 0; i < PLANS_PER_EVENT; i++) {
                List<Change> changes = cell.takeChanges();
                engine.apply(changes);
                reference.apply(changes);
                List<Decision> expected = reference.plan(cell.nowMillis);
                List<Decision> decisions = engine.plan(cell.nowMillis).decisions();
                assertThat(decisions.stream().map(ReferencePlannerPropertiesTest::withoutReceipt))
                        .as(cell::describe)
                        .isEqualTo(expected);
                SortedMap<WorkloadId, Map<PoolId, Reason.Code>> reasons = reference.reasons();
                assertThat(codes(engine.waits())).as(cell::describe).isEqualTo(reasons);
                expected.forEach(decision -> seen.add(kind(decision)));
                reasons.values().forEach(codes -> codes.values().forEach(code -> seen.add(code.name())));
                if (!expected.isEmpty()) {
                    judged.check();
                }
                cell.carryOut(decisions);
                cell.letVictimsLeave();
            }
        }
    }

    private static String kind(Decision decision) {
        return switch (decision) {
            case Decision.Start start -> "start " + start.rule();
            case Decision.Grow grow -> "grow";
            case Decision.Preempt preempt when preempt.cause() == EvictionCause.CONSOLIDATE -> "move";
            case Decision.Preempt preempt -> "stop to " + preempt.cause();
            case Decision.Shrink shrink -> "shrink to " + shrink.cause();
            case Decision.Nominate nominate -> "nominate";
            case Decision.WithdrawNomination withdrawn -> "withdraw";
        };
    }

    static Decision withoutReceipt(Decision decision) {
        return switch (decision) {
            case Decision.Preempt preempt ->
                new Decision.Preempt(
                        preempt.workload(),
                        preempt.cause(),
                        preempt.successor(),
                        preempt.deadlineMillis(),
                        ReferencePlanner.NO_RECEIPT);
            case Decision.Shrink shrink ->
                new Decision.Shrink(
                        shrink.workload(),
                        shrink.workers(),
                        shrink.cause(),
                        shrink.successor(),
                        shrink.deadlineMillis(),
                        ReferencePlanner.NO_RECEIPT);
            default -> decision;
        };
    }

    static Map<WorkloadId, Map<PoolId, Reason.Code>> codes(List<WaitReasons> waits) {
        Map<WorkloadId, Map<PoolId, Reason.Code>> codes = new TreeMap<>();
        for (WaitReasons reasons : waits) {
            Map<PoolId, Reason.Code> perPool = new LinkedHashMap<>();
            reasons.perPool().forEach(reason -> perPool.put(reason.pool(), reason.code()));
            codes.put(reasons.workload(), perPool);
        }
        return codes;
    }
}
