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

/** What waiting work was told last, as far as it is not what everybody in its line was told. */
public final class ReportedReasons {
    private final Map<WorkloadId, List<Reason>> reasons = new HashMap<>();
    private final List<ReasonChange> together = new ArrayList<>();

    public boolean isEmpty() {
        return together.isEmpty() && reasons.isEmpty();
    }

    public void put(WorkloadId workload, List<Reason> told) {
        each().put(workload, told);
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

    /** Takes over all that another knows. */
    public void replaceAll(ReportedReasons other) {
        reasons.putAll(other.each());
    }

    /** Takes over what everybody in a line was told; one by one only when somebody asks. */
    public void replaceAll(SchedulingClass schedulingClass) {
        List<Workload> spokenFor = schedulingClass.hasNomination();
        if (!spokenFor.isEmpty()) {
            together.add(new ReasonChange(schedulingClass.reasons(), spokenFor));
        }
    }

    private Map<WorkloadId, List<Reason>> each() {
        for (ReasonChange told : together) {
            told.workloads().forEach(workload -> reasons.put(workload.id(), told.perPool()));
        }
        together.clear();
        return reasons;
    }

    /** Whether reasons are of other kinds than what it was told. */
    public boolean isChanged(WorkloadId workload, List<Reason> newer) {
        List<Reason> before = get(workload);
        return before == null || !WaitReasons.kinds(before).equals(WaitReasons.kinds(newer));
    }
}
