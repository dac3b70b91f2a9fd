package io.quartermaster.engine.model;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Details of a wait beyond its reasons: which work blocks the workload, which changes would let it start, and when it
 * may start. Derived on demand.
 *
 * @param position the number of workloads of its own group that the planner would try before it
 * @param behind the first workload of its queue, if the queue starts work in strict order and another one is first
 * @param perPool the outlook in each pool, in the workload's order of pools
 */
public record Outlook(WorkloadId workload, int position, Optional<WorkloadId> behind, List<InPool> perPool) {

    public Outlook {
        perPool = List.copyOf(perPool);
    }

    /**
     * The outlook in one pool.
     *
     * @param holders the work of its own tenant that holds the missing capacity, the largest first; at most
     *     {@link #MAX_HOLDERS}. If a cap prevents the start: the work that counts against the cap, in any pool, and
     *     for a cap per user only that user's work
     * @param heldByOthersGpuMilli the amount that other tenants hold in the pool; the tenants are not named
     * @param relief the changes that together would let the workload start in the pool or get a nomination there. The
     *     engine has tried them; empty if it found no sufficient changes of these kinds
     * @param startsAtMillis the latest moment at which the workload fits, if running work ends as stated; empty if too
     *     little work states an end, or if something other than capacity prevents the start
     * @param preemptsFromMillis the earliest moment at which running work may be evicted for the workload, if the pool
     *     waits before preempting; empty once that moment has passed
     * @param fence the path whose fence prevents a reclaim that would otherwise be possible
     */
    public record InPool(
            PoolId pool,
            Reason.Code code,
            List<WorkloadId> holders,
            long heldByOthersGpuMilli,
            List<Relief> relief,
            OptionalLong startsAtMillis,
            OptionalLong preemptsFromMillis,
            Optional<QuotaPath> fence) {
        public InPool {
            holders = List.copyOf(holders);
            relief = List.copyOf(relief);
        }
    }

    /** The maximum number of holders that an outlook names; more would not help its reader. */
    public static final int MAX_HOLDERS = 10;

    /**
     * A change of one number.
     *
     * @param path the path of the quota or cap; empty if GPUs of the pool have to come free
     * @param scope the pool, or all pools, in which the number counts; empty for caps
     * @param gpuMilli the increase; 0 if the number counts workloads, or if the amount to be freed depends on waiting
     *     work of other tenants
     * @param workloads the number of additional workloads that may run; 0 if the number counts GPUs
     */
    public record Relief(Kind kind, Optional<QuotaPath> path, Optional<Scope> scope, long gpuMilli, long workloads) {

        /** A copy with other amounts. */
        public Relief with(long otherGpuMilli, long otherWorkloads) {
            return new Relief(kind, path, scope, otherGpuMilli, otherWorkloads);
        }

        public enum Kind {
            RAISE_LIMIT,
            /** The amount that one user may hold. */
            RAISE_USER_LIMIT,
            /** The number of workloads that may run. */
            RAISE_MAX_RUNNING,
            RESERVE_MORE,
            /** GPUs come free in a pool that is a plain count: the amount, or enough if the amount is 0. */
            FREE_IN_POOL,
            /** GPUs come free together on one node: the amount, or enough if the amount is 0. */
            FREE_ON_ONE_NODE
        }
    }
}
