package io.quartermaster.workloads;

import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whether work is within the rights that a policy gives submissions: one reading for all that submits, moves or changes work.
 *
 * @param policy its name, for the texts
 */
record SubmissionRightsValidator(String policy, SubmissionRights rights) {

    static final String CODE = "beyond-submission-rights";

    /** What is beyond the rights; a priority or preemptibility that is not stated is the default. */
    List<Problem.Field> objections(
            String at, WorkloadType type, @Nullable Integer priority, @Nullable Boolean preemptible) {
        List<Problem.Field> objections = new ArrayList<>();
        int highest = rights.maxPriority(type.defaultPriority());
        if (priority != null && priority > highest) {
            objections.add(new Problem.Field(
                    at + "priority",
                    "priority " + priority + " is above " + highest + ", the highest that policy " + policy
                            + " allows for work of type " + type.word(),
                    "0 to " + highest + ", or a higher maxPriority of policy " + policy));
        }
        if (!rights.nonPreemptible() && !preemptible(type, preemptible)) {
            objections.add(new Problem.Field(
                    at + "preemptible",
                    (preemptible == null
                                    ? "work of type " + type.word()
                                            + " is not preemptible unless it says so, and policy "
                                    : "preemptible is false, and policy ")
                            + policy + " allows no non-preemptible work",
                    "true, or a policy " + policy + " with nonPreemptible"));
        }
        return objections;
    }

    static ProblemException refused(List<Problem.Field> objections) {
        return new ProblemException(Problem.of(422, CODE, objections.getFirst().message(), objections));
    }

    int priority(WorkloadType type, @Nullable Integer stated) {
        return stated == null ? rights.defaultPriority(type.defaultPriority()) : stated;
    }

    static boolean preemptible(WorkloadType type, @Nullable Boolean stated) {
        return stated == null ? type.defaultPreemptible() : stated;
    }
}
