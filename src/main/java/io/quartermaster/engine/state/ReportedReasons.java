package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.ReasonChange;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The reasons that waiting work reported last, where they differ from those of its scheduling class. */
public final class ReportedReasons {
    private final Map<WorkloadId, List<Reason>> reasons = new HashMap<>();
    private final List<ReasonChange> together = new ArrayList<>();

    public boolean isEmpty() {
        return together.isEmpty() && reasons.isEmpty();
    }

    public void put(WorkloadId workload, List<Reason> reported) {
        each().put(workload, reported);
    }

    @Nullable
    public List<Reason> get(WorkloadId workload) {
        return isEmpty() ? null : each().get(workload);
    }

    public void forget(WorkloadId workload) {
        if (!isEmpty()) {
            each().remove(workload);
        }
    }

    /** Copies all reasons of another object. */
    public void replaceAll(ReportedReasons other) {
        reasons.putAll(other.each());
    }

    /** Adopts the reasons that the members of a class reported. They are stored by workload only on the first query. */
    public void replaceAll(SchedulingClass schedulingClass) {
        List<Workload> explainedMembers = schedulingClass.explainedMembers();
        if (!explainedMembers.isEmpty()) {
            together.add(new ReasonChange(schedulingClass.reasons(), explainedMembers));
        }
    }

    private Map<WorkloadId, List<Reason>> each() {
        for (ReasonChange reported : together) {
            reported.workloads().forEach(workload -> reasons.put(workload.id(), reported.perPool()));
        }
        together.clear();
        return reasons;
    }

    /** Whether the new reasons have other kinds than the reported ones. */
    public boolean isChanged(WorkloadId workload, List<Reason> newer) {
        List<Reason> before = get(workload);
        return before == null || !WaitReasons.kinds(before).equals(WaitReasons.kinds(newer));
    }
}
