package io.quartermaster.engine;

import io.quartermaster.engine.explain.ReasonCache;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.plan.Demand;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;

/** What is worked out of the books and kept beside them from plan to plan, each part following what changes. */
final class PlanCaches {
    private final Demand demand;
    private final CandidateQueue candidates;
    private final ReasonCache reasons;

    PlanCaches(DeclaredState declaredState, SchedulingState schedulingState) {
        this.demand = new Demand(declaredState, schedulingState);
        this.candidates = new CandidateQueue(declaredState);
        this.reasons = new ReasonCache(declaredState, schedulingState);
    }

    Demand demand() {
        return demand;
    }

    CandidateQueue candidates() {
        return candidates;
    }

    ReasonCache reasons() {
        return reasons;
    }
}
