package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;

/** Looks on while a plan is made and changes nothing, so that a plan is the same with any. */
public interface PlanListener {
    /** Nobody looks on. */
    PlanListener NONE = new PlanListener() {
        @Override
        public void begins(DeclaredState declaredState, SchedulingState schedulingState) {}

        @Override
        public void attemptBegins(Candidate candidate, CandidateQueue candidateQueue) {}

        @Override
        public void nominationWithdrawn(Allocation place, NominationEnd why) {}

        @Override
        public void decided(Decision decision) {}
    };

    /** Fair shares are divided, nothing is decided yet. */
    void begins(DeclaredState declaredState, SchedulingState schedulingState);

    /** It is an offer's turn; it is not tried yet. */
    void attemptBegins(Candidate candidate, CandidateQueue candidateQueue);

    /** The next decision takes a kept place back. */
    void nominationWithdrawn(Allocation place, NominationEnd why);

    /** A decision was taken, and the books have it. */
    void decided(Decision decision);
}
