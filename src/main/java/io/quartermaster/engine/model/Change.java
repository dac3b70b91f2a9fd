package io.quartermaster.engine.model;

import io.quartermaster.engine.Engine;

/**
 * Something that is now so. Each is the full statement of a thing, so applying one twice changes nothing. Within one
 * batch the order of changes of different things does not matter.
 */
public sealed interface Change {

    record PoolSet(Pool pool) implements Change {}

    /** Its nodes and the quotas on it go with it. */
    record PoolRemoved(PoolId pool) implements Change {}

    record NodeSet(Node node) implements Change {}

    record NodeRemoved(NodeId node) implements Change {}

    record QuotaSet(Quota quota) implements Change {}

    record QuotaRemoved(QuotaPath path, Scope scope) implements Change {}

    record CapacityReservationSet(ReservationWindow reservation) implements Change {}

    record CapacityReservationRemoved(CapacityReservationId id) implements Change {}

    /** In which order a queue starts its work; one of which nothing is stated skips ahead. */
    record QueueSet(QueueId queue, QueueOrder order) implements Change {}

    record QueueRemoved(QueueId queue) implements Change {}

    record ProfileSet(ProfileOrder profile) implements Change {}

    record ProfileRemoved(ProfileId profile) implements Change {}

    /** Bounds on users and on numbers of workloads; the newest statement for a path replaces the one before. */
    record CapsSet(ConcurrencyCaps caps) implements Change {}

    record CapsRemoved(QuotaPath path) implements Change {}

    record WorkloadSet(Workload workload) implements Change {}

    /** It is over; what it held is free. */
    record WorkloadRemoved(WorkloadId workload) implements Change {}

    /**
     * What work of a path held before; only where the settings have a fairness window. {@link Engine#pastUse} says it.
     *
     * @param averageGpuNano moving average with the window as its half-life, in billionths of a GPU
     * @param heldGpuMilli what it has held since
     */
    record PastUseSet(QuotaPath path, Scope scope, long averageGpuNano, long heldGpuMilli, long asOfMillis)
            implements Change {}

    /**
     * How much GPU time is left to what runs under a path, in one pool or in all. The newest statement for a path and scope replaces the one
     * before; {@link Engine#budgets} says it as it has become since.
     *
     * @param leftGpuMilliMillis thousandths of a GPU times milliseconds; negative where more was used than there was
     * @param heldGpuMilli what has been held of it since
     * @param graceMillis how long what is told to stop may go on holding: so much is kept back for it
     */
    record BudgetSet(
            QuotaPath path, Scope scope, long leftGpuMilliMillis, long heldGpuMilli, long asOfMillis, long graceMillis)
            implements Change {
        public BudgetSet {
            if (heldGpuMilli < 0 || graceMillis < 0) {
                throw new IllegalArgumentException("nothing negative is held, nor is a grace");
            }
        }
    }

    record BudgetRemoved(QuotaPath path, Scope scope) implements Change {}

    /** Whether anything under a path may start. */
    record AccountStatusSet(QuotaPath path, AccountStatus status) implements Change {}

    /** Why nothing under a path may start, or that it may. */
    enum AccountStatus {
        ACTIVE,
        /** The tenant is suspended. */
        SUSPENDED,
        /** The GPU-hours of the period are used up. */
        BUDGET_USED_UP
    }
}
