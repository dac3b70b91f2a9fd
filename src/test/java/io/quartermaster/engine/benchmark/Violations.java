package io.quartermaster.engine.benchmark;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The violations that the checker found in a run: how many of each rule, and the first ones in full. */
final class Violations {
    private static final int MOST_SHOWN = 20;

    private final Map<PlanChecker.Rule, Integer> countByRule = new EnumMap<>(PlanChecker.Rule.class);
    private final List<String> first = new ArrayList<>();
    private int plans;

    void add(List<PlanChecker.Violation> found) {
        plans++;
        for (PlanChecker.Violation violation : found) {
            int count = countByRule.merge(violation.rule(), 1, Integer::sum);
            if (count <= MOST_SHOWN) {
                first.add(violation.rule() + ": " + violation.text());
            }
        }
    }

    /** The number of plans that were checked. */
    int plans() {
        return plans;
    }

    Map<PlanChecker.Rule, Integer> countByRule() {
        return countByRule;
    }

    List<String> first() {
        return first;
    }
}
