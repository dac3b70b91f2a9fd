package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.ReasonChange;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.quota.UsageView;
import io.quartermaster.engine.state.ChangeLog;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.PoolRequest;
import io.quartermaster.engine.state.PoolRequestFactory;
import io.quartermaster.engine.state.ReportedReasons;
import io.quartermaster.engine.state.SchedulingClass;
import io.quartermaster.engine.state.SchedulingState;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/**
 * Cache of the reasons of waiting work. After a plan it finds the reasons again only for those scheduling classes whose
 * reasons may have changed: a workload joined, something changed at the tenant, or the class fits in a pool where it
 * did not fit before, or the reverse. For the other classes it updates the numbers when a caller reads them.
 */
public final class ReasonCache {
    private final SchedulingState schedulingState;
    private final PoolRequestFactory poolRequestFactory;
    private final ReasonFinder reasonFinder;
    private final BitSet fits = new BitSet();
    private final BitSet fitsIfOpen = new BitSet();
    private final BitSet lacksRoom = new BitSet();
    private final BitSet lacksCapacity = new BitSet();
    private int signaturesSeen;
    private long cursor = -1;

    public ReasonCache(DeclaredState declaredState, SchedulingState schedulingState) {
        this.schedulingState = schedulingState;
        this.poolRequestFactory = new PoolRequestFactory(declaredState, schedulingState);
        this.reasonFinder = new ReasonFinder(declaredState, schedulingState);
    }

    /** Returns the changes of reasons since the last call. */
    public List<ReasonChange> changes(ReportedReasons reportedReasons) {
        List<ReasonChange> reasonChanges = new ArrayList<>();
        ChangeLog changeLog = schedulingState.changes();
        BitSet changed = changedSignatures();
        if (changeLog.covers(cursor)) {
            changeLog
                    .affectedSince(cursor)
                    .forEach(schedulingClass -> explain(schedulingClass, reportedReasons, reasonChanges));
            for (SchedulingClass schedulingClass :
                    changed.isEmpty() ? List.<SchedulingClass>of() : schedulingState.schedulingClasses()) {
                if (requestsAnyOf(schedulingClass, changed)) {
                    explain(schedulingClass, reportedReasons, reasonChanges);
                }
            }
        } else {
            schedulingState
                    .schedulingClasses()
                    .forEach(schedulingClass -> explain(schedulingClass, reportedReasons, reasonChanges));
        }
        cursor = changeLog.takeCursor();
        for (Workload workload : schedulingState.nominated()) {
            if (workload.state() instanceof WorkloadPhase.Waiting) {
                reportReasons(workload, List.of(reasonFinder.nominated(workload)), reportedReasons, reasonChanges);
            }
        }
        reasonChanges.sort(Comparator.comparing(of -> of.workloads().getFirst().id()));
        return reasonChanges;
    }

    private void explain(
            SchedulingClass schedulingClass, ReportedReasons reportedReasons, List<ReasonChange> reasonChanges) {
        if (schedulingClass.isEmpty() || schedulingClass.isGrowth()) {
            return;
        }
        schedulingClass.setFirstApart(reportedReasons);
        if (schedulingClass.hasUnexplained() || !reasonFinder.sameKinds(schedulingClass, schedulingClass.reasons())) {
            List<Reason> reasons = reasonFinder.reasons(schedulingClass);
            List<Workload> changed = schedulingClass.explain(reasons, reportedReasons);
            if (!changed.isEmpty()) {
                reasonChanges.add(new ReasonChange(reasons, changed));
            }
        }
        Workload first = schedulingClass.firstInQueue();
        if (first != null) {
            reportReasons(first, reasonFinder.reasonsOfFirst(schedulingClass), reportedReasons, reasonChanges);
        }
    }

    private static void reportReasons(
            Workload workload,
            List<Reason> reasons,
            ReportedReasons reportedReasons,
            List<ReasonChange> reasonChanges) {
        if (reportedReasons.isChanged(workload.id(), reasons)) {
            reasonChanges.add(new ReasonChange(reasons, List.of(workload)));
        }
        reportedReasons.put(workload.id(), reasons);
    }

    private boolean requestsAnyOf(SchedulingClass schedulingClass, BitSet signatureNumbers) {
        for (PoolRequest poolRequest : poolRequestFactory.forClass(schedulingClass)) {
            if (poolRequest.signatureNumber() >= 0 && signatureNumbers.get(poolRequest.signatureNumber())) {
                return true;
            }
        }
        return false;
    }

    /** The numbers of the request signatures for which the fit in the pool has changed. */
    private BitSet changedSignatures() {
        BitSet changed = new BitSet();
        List<RequestSignature> requestSignatures = schedulingState.cluster().signatures();
        for (RequestSignature requestSignature : requestSignatures) {
            int number = requestSignature.number();
            changed.set(number, number >= signaturesSeen);
            changed.set(number, changed.get(number) | update(fits, number, requestSignature.fitsIgnoringNominations()));
            changed.set(
                    number,
                    changed.get(number) | update(fitsIfOpen, number, requestSignature.wouldFitIfNodesWereOpen()));
            changed.set(number, changed.get(number) | update(lacksRoom, number, requestSignature.lacksRoom()));
            changed.set(
                    number,
                    changed.get(number)
                            | update(lacksCapacity, number, requestSignature.lacksCapacity(UsageView.CURRENT)));
        }
        signaturesSeen = requestSignatures.size();
        return changed;
    }

    private static boolean update(BitSet states, int number, boolean state) {
        boolean changed = states.get(number) != state;
        states.set(number, state);
        return changed;
    }

    /** The current reasons of the head of a scheduling class that is also the first in its strict queue. */
    public List<Reason> currentOfFirst(SchedulingClass schedulingClass) {
        return reasonFinder.reasonsOfFirst(schedulingClass);
    }

    /** The reasons of a scheduling class with current numbers; valid only if nothing changed since the last plan. */
    public List<Reason> current(SchedulingClass schedulingClass) {
        schedulingClass.renumber(reasonFinder.reasons(schedulingClass));
        return schedulingClass.reasons();
    }
}
