package io.quartermaster.engine;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.Plan;
import io.quartermaster.engine.order.Candidate;
import io.quartermaster.engine.order.CandidateQueue;
import io.quartermaster.engine.plan.PlanListener;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;
import java.lang.management.ManagementFactory;

/** The steps of an engine that benchmarks measure. Only this class needs more than the engine's public face. */
public final class EngineSteps {

    private EngineSteps() {}

    /** A plan was abandoned, because its time was over. The engine must not be used after it. */
    public static final class PlanAbandoned extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final int starts;

        PlanAbandoned(int starts) {
            super("the plan was abandoned after " + starts + " starts", null, false, false);
            this.starts = starts;
        }

        /** The starts that the plan had decided. */
        public int starts() {
            return starts;
        }
    }

    /** Builds the engine's scheduling state, which otherwise its next plan does. */
    public static void prepare(Engine engine) {
        engine.buildState();
    }

    /**
     * Makes a plan, and abandons it between two attempts once the thread has used its time.
     *
     * @param untilNanos the CPU time of the thread at which it abandons the plan
     */
    public static Plan plan(Engine engine, long nowMillis, long untilNanos) {
        return engine.plan(nowMillis, new Deadline(untilNanos));
    }

    /** Makes a plan and reports each step to the listener. */
    public static Plan plan(Engine engine, long nowMillis, PlanListener planListener) {
        return engine.plan(nowMillis, planListener);
    }

    private static final class Deadline implements PlanListener {
        /** The CPU time is read no more often than this, because reading it costs more than a quick attempt. */
        private static final long NANOS_BETWEEN_CHECKS = 10_000_000;

        private final long untilNanos;
        private long checkedNanos = System.nanoTime();
        private int starts;

        Deadline(long untilNanos) {
            this.untilNanos = untilNanos;
        }

        @Override
        public void planBegins(DeclaredState declaredState, SchedulingState schedulingState) {}

        @Override
        public void attemptBegins(Candidate candidate, CandidateQueue candidateQueue) {
            long nanos = System.nanoTime();
            if (nanos - checkedNanos > NANOS_BETWEEN_CHECKS) {
                checkedNanos = nanos;
                if (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() > untilNanos) {
                    throw new PlanAbandoned(starts);
                }
            }
        }

        @Override
        public void nominationWithdrawn(Allocation place, NominationEnd why) {}

        @Override
        public void decisionMade(Decision decision) {
            starts += decision instanceof Decision.Start ? 1 : 0;
        }
    }
}
