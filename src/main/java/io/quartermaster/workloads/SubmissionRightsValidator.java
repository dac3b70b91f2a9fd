package io.quartermaster.workloads;

import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks workloads against the submission rights of a policy. Submissions, moves and changes of workloads all use it.
 *
 * @param policy its name, for the messages
 */
record SubmissionRightsValidator(String policy, SubmissionRights rights) {

    static final String CODE = "beyond-submission-rights";

    /** The fields that exceed the rights. A priority or preemptibility that is absent has its default. */
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
                                    ? "a workload of type " + type.word()
                                            + " is not preemptible by default, and policy "
                                    : "preemptible is false, but policy ")
                            + policy + " allows no non-preemptible workloads",
                    "true, or policy " + policy + " with nonPreemptible set"));
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
