package io.quartermaster.engine.model;

import io.quartermaster.engine.Engine;

/**
 * Change of a declared input. Each change contains the full new state of an object, so applying it twice has no further
 * effect. Within one batch, the order matters only between changes of the same object.
 */
public sealed interface Change {

    record PoolSet(Pool pool) implements Change {}

    /** Removes a pool, with its nodes and the quotas in it. */
    record PoolRemoved(PoolId pool) implements Change {}

    record NodeSet(Node node) implements Change {}

    record NodeRemoved(NodeId node) implements Change {}

    record QuotaSet(Quota quota) implements Change {}

    record QuotaRemoved(QuotaPath path, Scope scope) implements Change {}

    record CapacityReservationSet(ReservationWindow reservation) implements Change {}

    record CapacityReservationRemoved(CapacityReservationId id) implements Change {}

    /** The order in which a queue starts its work; a queue without this change may start later work first. */
    record QueueSet(QueueId queue, QueueOrder order) implements Change {}

    record QueueRemoved(QueueId queue) implements Change {}

    record ProfileSet(ProfileOrder profile) implements Change {}

    record ProfileRemoved(ProfileId profile) implements Change {}

    /** Caps per user and on the number of running workloads; a newer change for a path replaces an older one. */
    record CapsSet(ConcurrencyCaps caps) implements Change {}

    record CapsRemoved(QuotaPath path) implements Change {}

    record WorkloadSet(Workload workload) implements Change {}

    /** Removes a workload that has ended, and frees its devices. */
    record WorkloadRemoved(WorkloadId workload) implements Change {}

    /**
     * Past use of a path; relevant only if the settings have a fairness window. {@link Engine#pastUse} returns it.
     *
     * @param averageGpuNano moving average with the window as its half-life, in billionths of a GPU
     * @param heldGpuMilli the use since {@code asOfMillis}
     */
    record PastUseSet(QuotaPath path, Scope scope, long averageGpuNano, long heldGpuMilli, long asOfMillis)
            implements Change {}

    /**
     * Remaining GPU time of the work under a path, in one pool or in all pools. A newer change for a path and scope
     * replaces an older one; {@link Engine#budgets} returns the current amounts.
     *
     * @param leftGpuMilliMillis thousandths of a GPU times milliseconds; negative if the work has used more than the
     *     budget
     * @param heldGpuMilli the use that counts against the budget since {@code asOfMillis}
     * @param graceMillis how long stopping work may keep its devices; the budget retains the GPU time for it
     */
    record BudgetSet(
            QuotaPath path, Scope scope, long leftGpuMilliMillis, long heldGpuMilli, long asOfMillis, long graceMillis)
            implements Change {
        public BudgetSet {
            if (heldGpuMilli < 0 || graceMillis < 0) {
                throw new IllegalArgumentException("the use and the grace of a budget must not be negative");
            }
        }
    }

    record BudgetRemoved(QuotaPath path, Scope scope) implements Change {}

    /** Sets whether work under a path may start. */
    record AccountStatusSet(QuotaPath path, AccountStatus status) implements Change {}

    /** Status that permits or prevents starts under a path. */
    enum AccountStatus {
        ACTIVE,
        /** The tenant is suspended. */
        SUSPENDED,
        /** The GPU-hours of the period are used up. */
        BUDGET_USED_UP
    }
}
