package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;

/** Observes the making of a plan without changing anything, so that the plan is the same with every listener. */
public interface PlanListener {
    /** A listener that ignores all events. */
    PlanListener NONE = new PlanListener() {
        @Override
        public void planBegins(DeclaredState declaredState, SchedulingState schedulingState) {}

        @Override
        public void attemptBegins(Candidate candidate, CandidateQueue candidateQueue) {}

        @Override
        public void nominationWithdrawn(Allocation place, NominationEnd reason) {}

        @Override
        public void decisionMade(Decision decision) {}
    };

    /** The fair shares are divided, and there is no decision yet. */
    void planBegins(DeclaredState declaredState, SchedulingState schedulingState);

    /** The candidate is next, and its attempt has not begun. */
    void attemptBegins(Candidate candidate, CandidateQueue candidateQueue);

    /** The next decision withdraws a nomination. */
    void nominationWithdrawn(Allocation place, NominationEnd reason);

    /** Moves are not tried for a head in a pool, because they failed for an equal request since work last left. */
    default void movesNotRepeated(Workload head, PoolId pool) {}

    /** Moves are not tried for a head in a pool, because the plan has used up its budget of searches. */
    default void movesPostponed(Workload head, PoolId pool) {}

    /** The decision was made and applied to the scheduling state. */
    void decisionMade(Decision decision);
}
