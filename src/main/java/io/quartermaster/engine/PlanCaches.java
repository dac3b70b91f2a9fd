package io.quartermaster.engine;

import io.quartermaster.engine.explain.ReasonCache;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.plan.DemandCounter;
import io.quartermaster.engine.plan.ReservationHistory;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;

/** Caches derived from the scheduling state; they last from plan to plan, and each follows the changes of the state. */
final class PlanCaches {
    private final DemandCounter demand;
    private final CandidateQueue candidates;
    private final ReservationHistory reservationHistory = new ReservationHistory();
    private final ReasonCache reasons;

    PlanCaches(DeclaredState declaredState, SchedulingState schedulingState) {
        this.demand = new DemandCounter(declaredState, schedulingState);
        this.candidates = new CandidateQueue(declaredState);
        this.reasons = new ReasonCache(declaredState, schedulingState);
    }

    DemandCounter demand() {
        return demand;
    }

    CandidateQueue candidates() {
        return candidates;
    }

    ReservationHistory reservationHistory() {
        return reservationHistory;
    }

    ReasonCache reasons() {
        return reasons;
    }
}
