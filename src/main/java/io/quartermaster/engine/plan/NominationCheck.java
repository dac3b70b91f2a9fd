package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.Availability;
import io.quartermaster.engine.placement.Booking;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.Transaction;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaRequest;
import io.quartermaster.engine.quota.UsageView;
import io.quartermaster.engine.state.DeclaredState;
import io.quartermaster.engine.state.SchedulingState;
import java.util.Optional;

/** Checks whether nominations are still valid. It leaves the bookings unchanged. */
final class NominationCheck {
    private final DeclaredState declaredState;
    private final SchedulingState schedulingState;

    NominationCheck(DeclaredState declaredState, SchedulingState schedulingState) {
        this.declaredState = declaredState;
        this.schedulingState = schedulingState;
    }

    /**
     * The reason why a nomination is no longer valid, if there is one. For example, the devices are lost, or a quota
     * was cut.
     */
    Optional<NominationEnd> of(Workload workload, Booking booking, PoolCapacity poolCapacity) {
        boolean elsewhere = workload.pinnedNode()
                .filter(node -> !booking.allocation().touches(node))
                .isPresent();
        if (elsewhere) {
            return Optional.of(NominationEnd.ANOTHER_NODE);
        }
        if (workload.held()) {
            return Optional.of(NominationEnd.HELD);
        }
        if (declaredState.accountStatus(workload.path()) != Change.AccountStatus.ACTIVE) {
            return Optional.of(NominationEnd.SUSPENDED);
        }
        if (!poolCapacity.pool().hasExecutor()) {
            return Optional.of(NominationEnd.NO_EXECUTOR);
        }
        if (!isOpen(workload, poolCapacity.pool())) {
            return Optional.of(NominationEnd.CLOSED);
        }
        Transaction transaction = schedulingState.cluster().transaction();
        transaction.release(booking);
        Optional<NominationEnd> lapse = checkState(workload, booking, poolCapacity);
        transaction.rollback();
        return lapse;
    }

    /** Checks devices, limits and budgets while the nomination itself is not booked. */
    private Optional<NominationEnd> checkState(Workload workload, Booking booking, PoolCapacity poolCapacity) {
        if (!poolCapacity.fits(booking, Availability.AFTER_RELEASES)) {
            return Optional.of(NominationEnd.NO_DEVICES);
        }
        if (QuotaAdmission.forNominated(quotaRequest(workload, booking.allocation()), UsageView.PROJECTED)
                .isPresent()) {
            return Optional.of(NominationEnd.LIMIT);
        }
        for (BudgetMeter budgetMeter :
                schedulingState.cluster().meters(poolCapacity.pool().id(), workload.path())) {
            if (!budgetMeter.allows(booking.gpuMilli(), workload.preemptible(), workload.maxRuntimeMillis())) {
                return Optional.of(NominationEnd.BUDGET);
            }
        }
        return Optional.empty();
    }

    /** A running or moving workload may take its place as long as the pool takes work. */
    private boolean isOpen(Workload workload, Pool pool) {
        return workload.state() instanceof WorkloadPhase.Waiting
                ? schedulingState.isOpen(pool, 0, workload.preemptible(), workload.maxRuntimeMillis())
                : pool.takesWork();
    }

    /** The quota request of a nominated place. */
    QuotaRequest quotaRequest(Workload workload, Allocation place) {
        return schedulingState
                .cluster()
                .quotaRequest(SchedulingState.booking(workload, place), workload.dedicatedOnly());
    }
}
