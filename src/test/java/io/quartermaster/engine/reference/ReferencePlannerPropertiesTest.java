package io.quartermaster.engine.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.EngineSteps;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.plan.PlanListener;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;
import io.quartermaster.testing.RandomCases;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
                SearchesLeft left = new SearchesLeft();
                List<Decision> decisions =
                        EngineSteps.plan(engine, cell.nowMillis, left).decisions();
                List<Decision> expected = reference.plan(cell.nowMillis, left.searches);
                if (!left.searches.isEmpty()) {
                    seen.add("searches left");
                }
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

    /** Collects the searches for moves that a plan leaves to the next one; how many depends on what is pruned. */
    private static final class SearchesLeft implements PlanListener {
        private final Set<ReferencePlanner.Search> searches = new HashSet<>();

        @Override
        public void planBegins(DeclaredState declaredState, SchedulingState schedulingState) {}

        @Override
        public void attemptBegins(Candidate candidate, CandidateQueue candidateQueue) {}

        @Override
        public void nominationWithdrawn(Allocation place, NominationEnd why) {}

        @Override
        public void decisionMade(Decision decision) {}

        @Override
        public void movesPostponed(Workload head, PoolId pool) {
            searches.add(new ReferencePlanner.Search(head.id(), pool));
        }
    }

    private static String kind(Decision decision) {
        return switch (decision) {
            case Decision.Start start -> "start " + start.rule();
            case Decision.Grow grow -> "grow";
            case Decision.Evict evict when evict.cause() == EvictionCause.CONSOLIDATE -> "move";
            case Decision.Evict evict -> "stop to " + evict.cause();
            case Decision.Shrink shrink -> "shrink to " + shrink.cause();
            case Decision.Nominate nominate -> "nominate";
            case Decision.WithdrawNomination withdrawn -> "withdraw";
        };
    }

    static Decision withoutReceipt(Decision decision) {
        return switch (decision) {
            case Decision.Evict evict ->
                new Decision.Evict(
                        evict.workload(),
                        evict.cause(),
                        evict.successor(),
                        evict.deadlineMillis(),
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
